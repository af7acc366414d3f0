// Update the progress regularly, and reload the page when the work is done.
const address = location.pathname;

async function look() {
  try {
    const answer = await fetch(address);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const [here, there] = [document, page].map((one) => one.getElementById("progress"));
    if (answer.ok && there) {
      if (!page.querySelector("script")) return location.reload();
      if (here.innerHTML !== there.innerHTML) here.innerHTML = there.innerHTML;
    }
  } catch {
    // Try again below.
  }
  setTimeout(look, 3000);
}

setTimeout(look, 3000);
