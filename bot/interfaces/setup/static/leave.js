// GitHub accepts the manifest only as a form posted by the person's browser.
document.getElementById("leave").requestSubmit();
