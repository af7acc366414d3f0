// Ask now and then whether GitHub has delivered. While the receiver is started anew it does not answer.
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
    // The next look will tell.
  }
  setTimeout(look, 1500);
}

if (document.getElementById("works").hidden) look();
