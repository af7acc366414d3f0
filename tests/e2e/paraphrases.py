"""What newcomers might write to the demo's project: twenty known reports in other words, and twenty new ones.

Each has a title and two sentences, and shares as few words with what is there as a stranger's would.
"""

from __future__ import annotations

# Number of the report that is told again, title, text.
AGAIN = (
    (
        131,
        "Lost every heart after a full rescan",
        "I had marked about two thousand pictures over the years. "
        "After a full rescan not one of them is marked any more.",
    ),
    (
        73,
        "Overview starts from the beginning when I leave a picture",
        "I scroll several years back, look at one photo and close it. "
        "Then I'm at the newest ones and have to search my place.",
    ),
    (
        42,
        "Firefox on Ubuntu plays no movie",
        "Clicking a clip gives a black box and nothing else happens. In Chromium the same file is fine.",
    ),
    (
        54,
        "Sign-in through our identity provider never ends",
        "After I type my password the browser goes back and forth until I stop it. "
        "The log complains of a state that differs.",
    ),
    (
        65,
        "Big movie files can't be sent, it breaks just before the end",
        "Files of more than a gigabyte are transferred almost completely and then I get an error. "
        "Small ones are no problem.",
    ),
    (
        80,
        "The bin doesn't empty itself",
        "It's set to thirty days, but there are deleted pictures from last year in it. I have to clear it by hand.",
    ),
    (
        87,
        "Phone app quits sending pictures overnight",
        "In the evening it works, in the morning nothing new has arrived. I have to open the app, then it goes on.",
    ),
    (
        30,
        "Evening pictures are sorted under the next day",
        "Whatever I took after ten at night in summer appears under the following date. The camera's clock is right.",
    ),
    (
        39,
        "Movies filmed upright lie on their side",
        "When I hold the phone vertically, the clip is shown turned by ninety degrees. "
        "The original plays correctly elsewhere.",
    ),
    (
        18,
        "Raspberry Pi runs out of RAM at first import",
        "After some thousand pictures the kernel kills the process. It has four gigabytes and nothing else runs on it.",
    ),
    (
        102,
        "Guests still see an album whose link ended last week",
        "I set an end date for the link. That day is over, and my friends can still open it.",
    ),
    (
        103,
        "Animated pictures stand still",
        "I added some moving GIFs and only their first image is shown. They move when I download and open them.",
    ),
    (
        101,
        "First import stops moving at about two thirds",
        "The bar doesn't go any further since yesterday, and the processor is idle. "
        "A restart gets to the very same place.",
    ),
    (
        99,
        "Memories page is broken on leap day",
        "Today is February 29 and the page with what happened in former years shows an error. "
        "Yesterday it was all right.",
    ),
    (
        143,
        "Memory of the browser grows and grows while the page is open",
        "I leave Larkspool open in a tab in the evening. In the morning it takes six gigabytes and the laptop crawls.",
    ),
    (
        166,
        "Albums don't keep the sequence I dragged pictures into",
        "Since I upgraded to 1.0 they're sorted by date again, whatever I do. Before that my own sorting was kept.",
    ),
    (
        130,
        "The sidebar closes again each time I load the page",
        "I pin it so that it stays open. After pressing F5 it's hidden again.",
    ),
    (
        176,
        "NAS drives run all night although nobody is using Larkspool",
        "They should go to sleep after twenty minutes, and do so when I stop the container. "
        "Something reads or writes all the time.",
    ),
    (
        74,
        "Name is gone after joining two faces",
        "I had named one of the two, and then put them together. Now the person is without a name.",
    ),
    (
        134,
        "Far too many pins on the map",
        "Zoomed out, our home town is one big heap of needles. Could neighbouring ones be drawn as one with a number?",
    ),
)

# Title and text of what nobody has reported.
NEW = (
    (
        "Print an album as a contact sheet",
        "I'd like a PDF with twenty pictures on each page. My mother doesn't use a computer.",
    ),
    (
        "Rotate button turns the wrong way",
        "The left arrow turns the picture clockwise. It's the same in the grid's menu.",
    ),
    (
        "Search field loses the cursor on an iPad",
        "After every second letter the keyboard closes. With a mouse on a laptop it's fine.",
    ),
    (
        "Read a library of Apple Photos directly",
        "The bundle has originals and a database inside. Could the import understand it?",
    ),
    (
        "Show how much space an album takes",
        "I want to know which albums are worth moving to another disk. A number below the title would do.",
    ),
    (
        "No progress bar in Safari while sending files",
        "Nothing is drawn until everything is done. I never know how long it will take.",
    ),
    (
        "Measure the distance between two places",
        "On the map I'd love to click two points and see how many kilometres lie between. We hike a lot.",
    ),
    (
        "Hide a person from the people page",
        "A neighbour is in hundreds of our pictures. I don't want to see her face there each time.",
    ),
    (
        "Restoring several deleted pictures brings back only one",
        "I select ten in the trash and press restore. One comes back, nine stay.",
    ),
    (
        "Only let members of a group sign in",
        "Our provider sends the groups in a claim. People outside the family group shouldn't get an account.",
    ),
    (
        "Subtitles from a file beside the video",
        "My films have an .srt with the same name. The player could offer it.",
    ),
    (
        "Backup to S3 fails with SignatureDoesNotMatch",
        "The key is right, other tools can write there. The bucket's name has a dot in it.",
    ),
    (
        "Date picker can't be read in the dark theme",
        "The digits are black on dark grey. In the light theme everything is fine.",
    ),
    (
        "Settings page of the app crashes on Android 8",
        "I tap the gear and the app is gone. Newer phones here don't do that.",
    ),
    (
        "Let guests leave a comment in a shared album",
        "Grandparents would like to write a line under a picture. They have no account.",
    ),
    (
        "Run the container as any user id",
        "Our cluster gives each pod a random number. The start script wants to change owners and fails.",
    ),
    (
        "Thumbnails of scanned TIFF files are black",
        "They're 16 bit greyscale from a film scanner. The full view is right.",
    ),
    (
        "Type a date to go there",
        "Dragging the scrubber to a certain week is fiddly. A field for the date would be quicker.",
    ),
    (
        "List people over the HTTP API",
        "I want to make a calendar of birthdays with their faces. There's no way to get their names.",
    ),
    (
        "Lens is named twice in the info panel",
        "It says the same lens in two lines, once with the maker. All my Fuji files have it.",
    ),
)
