// npm's oidc-provider as a program: an OAuth2 service with login, consent, PKCE and rotation, and an API behind it.
//
// Arguments: the file of oidc-provider, and its settings as JSON (see oidc.py). Prints {"port"} and ends with its input.
import http from "node:http";
import { pathToFileURL } from "node:url";

const [, , library, settings] = process.argv;
const { Provider } = await import(pathToFileURL(library));
const { id, secret, redirects, scopes, access, refresh, rotate, slow } = JSON.parse(settings);

const server = http.createServer();
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const { port } = server.address();
const issuer = `http://127.0.0.1:${port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: id,
      ...(secret ? { client_secret: secret } : {}),
      token_endpoint_auth_method: secret ? "client_secret_post" : "none",
      application_type: "native",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      redirect_uris: redirects,
    },
  ],
  scopes: ["openid", "offline_access", ...scopes],
  pkce: { required: () => true },
  features: { devInteractions: { enabled: true }, revocation: { enabled: true } },
  rotateRefreshToken: rotate,
  issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
  findAccount: async (_, sub) => ({ accountId: sub, claims: async () => ({ sub }) }),
  ttl: { AccessToken: access, RefreshToken: refresh, Grant: 86400, Session: 86400, Interaction: 3600 },
  cookies: { keys: ["a key of the tests"] },
});

// What came to the token endpoint: the form's names with its grant type, and how it was answered.
const seen = [];
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

provider.use(async (context, next) => {
  if (context.path !== "/token") return next();
  await next();
  const form = context.oidc?.params ?? {};
  const status = context.status;
  seen.push({
    grant: form.grant_type,
    secret: Boolean(form.client_secret),
    scope: Boolean(form.scope),
    header: Boolean(context.get("authorization")),
    status,
    error: status === 200 ? null : context.body?.error ?? null,
  });
  // The token that was sent is dead by now, and whoever sent it has no new one yet.
  if (slow) await wait(slow);
});

const answer = (response, status, value) => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
};

const api = async (request, response) => {
  const [scheme, value] = (request.headers.authorization ?? "").split(" ");
  const token = scheme === "Bearer" && value ? await provider.AccessToken.find(value) : undefined;
  if (!token || token.isExpired) return answer(response, 401, { error: "invalid_token" });
  return answer(response, 200, { account: token.accountId, scope: token.scope ?? "", path: request.url });
};

const handle = provider.callback();
server.on("request", (request, response) => {
  if (request.url === "/-/seen") return answer(response, 200, seen);
  if (request.url.startsWith("/api/")) return api(request, response);
  return handle(request, response);
});
console.log(JSON.stringify({ port }));
process.stdin.on("end", () => process.exit(0)).resume();
