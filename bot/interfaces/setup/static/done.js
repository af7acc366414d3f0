// Ask regularly whether GitHub has delivered.
const status = document.getElementById("status");

async function look() {
  try {
    const answer = await fetch(status.dataset.url);
    if (answer.ok && (await answer.json()).arrived) {
      document.getElementById("waiting").hidden = true;
      document.getElementById("works").hidden = false;
      return;
    }
  } catch {
    // Try again below.
  }
  setTimeout(look, 1500);
}

if (document.getElementById("works").hidden) look();
