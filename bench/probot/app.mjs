// A Probot app that keeps each delivery in SQLite before it is answered, and does nothing else.
//
//     node app.mjs PORT DATABASE SECRET PRIVATE_KEY_FILE PROCESSES
//
// Probot verifies the signature and answers when the handlers have ended. libsql has the interface of better-sqlite3 and
// brings its binary along. Several processes share the port, as gunicorn's do.

import cluster from "node:cluster";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

import Database from "libsql";
import { createNodeMiddleware, createProbot } from "probot";

const [port, database, secret, keyFile, processes] = process.argv.slice(2);

function keepDeliveries(app) {
  const db = new Database(database);
  db.pragma("busy_timeout = 5000");
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec("CREATE TABLE IF NOT EXISTS deliveries (id TEXT PRIMARY KEY, event TEXT, arrived REAL)");
  const insert = db.prepare("INSERT OR IGNORE INTO deliveries VALUES (?, ?, ?)");
  app.onAny(async ({ id, name, payload }) => {
    const event = {
      name,
      action: payload.action,
      installation: payload.installation?.id,
      repository: payload.repository?.id,
      number: payload.issue?.number,
    };
    insert.run(id, JSON.stringify(event), Date.now() / 1000);
  });
}

if (cluster.isPrimary) {
  for (let n = 0; n < Number(processes); n++) cluster.fork();
  process.on("SIGTERM", () => {
    for (const worker of Object.values(cluster.workers)) worker.kill();
    process.exit(0);
  });
} else {
  const probot = createProbot({
    overrides: { appId: 1, privateKey: readFileSync(keyFile, "utf8"), secret, logLevel: "error" },
  });
  const middleware = await createNodeMiddleware(keepDeliveries, { probot, webhooksPath: "/webhook" });
  createServer(async (request, response) => {
    if (request.url === "/readyz") response.end("ready");
    else if (!(await middleware(request, response))) response.writeHead(404).end();
  }).listen(Number(port), "127.0.0.1");
}
