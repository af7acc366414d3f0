// Octokit, GitHub's own client, against the simulator: node octokit.mjs URL APP_ID KEY_FILE USER_TOKEN
// Prints one JSON object of what it saw; any failure ends it with a stack and status 1.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [url, appId, keyFile, userToken, modules] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(createRequire(join(modules, "x.js")).resolve(name)));
const { App, Octokit } = await load("octokit");

const Client = Octokit.defaults({ baseUrl: url });
const app = new App({ appId, privateKey: readFileSync(keyFile, "utf8"), Octokit: Client });
const seen = {};

const { data: me } = await app.octokit.request("GET /app");
seen.app = me.slug;
const { data: installation } = await app.octokit.request("GET /repos/{owner}/{repo}/installation", { owner: "acme", repo: "app" });
const bot = await app.getInstallationOctokit(installation.id);
const at = { owner: "acme", repo: "app" };

seen.issues = (await bot.paginate("GET /repos/{owner}/{repo}/issues", { ...at, state: "all", per_page: 1 })).map((i) => i.title);
seen.found = (await bot.request("GET /search/issues", { q: "repo:acme/app is:issue import" })).data.total_count;
const { data: comment } = await bot.request("POST /repos/{owner}/{repo}/issues/{issue_number}/comments", { ...at, issue_number: 1, body: "hello" });
seen.author = comment.user.login;
await bot.request("POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions", { ...at, comment_id: comment.id, content: "eyes" });
const graph = await bot.graphql("query($n: Int!) { repository(owner: \"acme\", name: \"app\") { issue(number: $n) { title } } }", { n: 1 });
seen.graphql = graph.repository.issue.title;

const person = new Client({ auth: userToken });
const { data: opened } = await person.request("POST /repos/{owner}/{repo}/issues", { ...at, title: "From a person", body: "text" });
seen.opened = opened.number;
seen.refused = await person.request("PATCH /repos/{owner}/{repo}/issues/{issue_number}", { ...at, issue_number: 1, state: "closed" }).then(() => 200, (e) => e.status);
console.log(JSON.stringify(seen));
