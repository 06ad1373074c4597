"""Write the reminders for loans that are overdue.

Run every Tuesday before opening. The first reminder goes out a week after the due
date, the second and third two weeks apart; then the card rests.
"""

from datetime import date, timedelta

REMINDER_DAYS = (7, 21, 35)


def reminders_due(due: date, today: date) -> int:
    """How many reminders a loan should have had by today."""
    late = (today - due).days
    return sum(late >= days for days in REMINDER_DAYS)


def card_rests(due: date, today: date) -> bool:
    """Whether the borrower's card rests: three reminders and another two weeks."""
    return today - due >= timedelta(days=REMINDER_DAYS[-1] + 14)
