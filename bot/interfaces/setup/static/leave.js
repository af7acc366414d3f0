// GitHub takes the manifest only as a form that the person's own browser posts.
document.getElementById("leave").requestSubmit();
