// Ask now and then how far it is, and show the whole page when it is done.
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
    // The next look will tell.
  }
  setTimeout(look, 3000);
}

setTimeout(look, 3000);
