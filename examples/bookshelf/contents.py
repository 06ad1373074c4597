"""The words of the documents that ``make.py`` writes."""

from __future__ import annotations

from typing import Final

LEASE_TITLE: Final = "Lease of the reading room at 4 Tide Street"
LEASE_SIGNED: Final = (
    "Signed at Alder Quay on 2 March 2023 by Ines Marlow for the library and Edvard Holm for the "
    "Harbour Trust. Two copies were made."
)

# One section each: heading, then paragraphs. The page breaks stand before the sections named.
LEASE: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "Parties and premises",
        (
            "This lease is made between the Harbour Trust, the owner, and the Alder Quay Lending "
            "Library, the tenant. It covers the ground floor of 4 Tide Street: the reading room, "
            "the store behind it and the yard with the bicycle shed.",
            "The cellar is not part of the premises. The owner keeps its key.",
        ),
    ),
    (
        "Term and renewal",
        (
            "The lease begins on 1 April 2023 and runs for six years, to 31 March 2029.",
            "The tenant may renew it once for another three years. To renew the lease, the tenant "
            "writes to the owner at least six months before the end of the term, that is, before "
            "1 October 2028. No reason need be given, and the rent may rise by at most two "
            "percent on renewal.",
        ),
    ),
    (
        "Rent and deposit",
        (
            "The rent is 640 crowns a month, due on the fifth working day. Heating and water are "
            "included; electricity is not.",
            "A deposit of two months' rent is held by the owner and returned within thirty days "
            "of the end of the lease.",
        ),
    ),
    (
        "Repairs",
        (
            "The owner repairs the roof, the outer walls and the boiler. The tenant repairs what "
            "its visitors use: shelves, lamps, door handles and the bicycle shed.",
            "Damp in the store was noted on the day of signing. The owner has the north wall "
            "drained before the first winter.",
        ),
    ),
)
LEASE_PAGES: Final = (("Parties and premises", "Term and renewal"), ("Rent and deposit", "Repairs"))

BOOK_TITLE: Final = "The Small Apiary: a handbook for the library's hives"
BOOK: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "Choosing a place",
        (
            "A hive wants morning sun, a dry floor and shelter from the west wind. On the library "
            "roof the chimney gives that shelter, so both hives stand on its eastern side.",
            "Set the entrance away from the path. Bees climb steeply when something tall stands "
            "two metres in front of the hive, and then pass well above people's heads.",
        ),
    ),
    (
        "The first inspection in spring",
        (
            "Wait for a calm day of at least fourteen degrees. Lift the frames one at a time and "
            "look for eggs: a single egg standing in each cell means that the queen was there "
            "within three days.",
            "Count the frames of stored honey. A colony with fewer than two full frames in April "
            "is fed with sugar syrup, one part sugar to one part water by weight.",
        ),
    ),
    (
        "Swarms",
        (
            "A colony that builds queen cells along the lower edge of the comb is about to swarm. "
            "Give it room before that happens: add a box when seven of ten frames are covered "
            "with bees.",
            "A swarm that hangs in the plum tree is gentle, because it has no home to defend. "
            "Hold a cardboard box below it, shake the branch once, and leave the box in the shade "
            "until dusk.",
        ),
    ),
    (
        "Harvest",
        (
            "Take honey in the second half of July, when the cells are capped on at least four "
            "fifths of the comb. Uncapped honey holds too much water and ferments in the jar.",
            "Leave each colony twelve kilograms for the winter.",
        ),
    ),
)

REPAIR_TITLE: Final = "Bicycle repair, one page at a time"
REPAIR: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "A flat tyre",
        (
            "Take the wheel out and pull one side of the tyre over the rim with two levers. "
            "Find the hole by holding the pumped-up tube under water.",
            "Roughen the rubber around the hole, spread a thin layer of cement, and wait until it "
            "is dull before you press on the patch. Feel along the inside of the tyre for the "
            "thorn before you put the tube back.",
        ),
    ),
    (
        "A chain that slips",
        (
            "Measure twelve links. New, they are 304.8 millimetres long; at 307 the chain is worn "
            "and should be replaced before it wears the sprockets too.",
            "A slipping chain with the right length usually means a bent link: turn the pedals "
            "backwards slowly and watch for the one that jumps.",
        ),
    ),
    (
        "Brakes that squeal",
        (
            "Turn each brake block so that its front edge touches the rim about one millimetre "
            "before the rear edge. Clean the rim with spirit, never with oil.",
        ),
    ),
)
REPAIR_TORQUE: Final[tuple[tuple[str, ...], ...]] = (
    ("Part", "Torque in Nm"),
    ("Stem bolts", "5"),
    ("Seat post clamp", "6"),
    ("Crank bolt", "40"),
    ("Pedals", "35"),
)

SLIDES: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "Welcome to the volunteers' evening",
        ("Alder Quay Lending Library, 12 September", "Tea at half past six, talk at seven"),
    ),
    (
        "What a volunteer does",
        (
            "Two hours a week at the desk, always two people",
            "Shelving on Mondays, while the library is closed",
            "Nobody opens the till alone",
        ),
    ),
    (
        "How to close the room",
        (
            "Windows first, then the lamp over the map table",
            "Put the returned books on the grey trolley",
            "The alarm code is changed on the first of every month; ask Ines",
        ),
    ),
)

CATALOGUE: Final[tuple[tuple[str, tuple[tuple[str | float, ...], ...]], ...]] = (
    (
        "Tools",
        (
            ("Number", "Tool", "Shelf", "Loan in days", "Deposit in crowns"),
            ("T-014", "Cordless drill with two batteries", "B2", 7.0, 40.0),
            ("T-021", "Apple press, 20 litres", "Yard", 3.0, 60.0),
            ("T-027", "Sewing machine", "A1", 14.0, 50.0),
            ("T-033", "Pressure canner", "A3", 7.0, 30.0),
            ("T-040", "Bookbinding press", "A1", 14.0, 25.0),
        ),
    ),
    (
        "Maps",
        (
            ("Number", "Map", "Scale", "Year"),
            ("M-003", "Alder estuary, depths and channels", "1:25000", 1961.0),
            ("M-008", "Footpaths of the lower valley", "1:10000", 2019.0),
        ),
    ),
)
