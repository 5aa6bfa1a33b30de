import { once } from 'node:events'
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import { HyperkubeError, toFailure } from '../kit/errors.ts'
import { createSecretMask } from '../kit/mask-secrets.ts'
import { toPrintable } from '../kit/text.ts'
import { findRefusal, type Refusal } from './check-request.ts'
import { parseApplyPath, parseViewPath } from './parse-view-path.ts'
import { UiSession } from './session.ts'
import { shareReads } from './share-reads.ts'
import type { WebFiles } from './web-files.ts'
import {
  type AppliedPlan,
  applyBody,
  type PlanApplication,
  type ViewOutcome,
  type ViewRequest,
  viewSchemas,
} from './views.ts'

export interface UiServerOptions {
  /** Port on 127.0.0.1; 0 chooses a free one. */
  readonly port: number
  readonly files: WebFiles
  /** Reads the document of a view. The server removes all fields that the schema of the view does not name. */
  readonly readView: (request: ViewRequest) => Promise<unknown>
  /** Starts to apply a plan that was shown; undefined if the interface only reads. */
  readonly applyPlan?: ((request: PlanApplication) => Promise<AppliedPlan>) | undefined
  readonly now: () => Date
}

export interface UiServer extends AsyncDisposable {
  readonly port: number
  /** Address with the token. It opens the interface once. */
  readonly url: string
}

/** Serves the interface on loopback to the one browser that has the token. */
export async function startUiServer(options: UiServerOptions): Promise<UiServer> {
  const session = new UiSession()
  const readView = shareReads(async (request: ViewRequest) => readSafeView(options, request))
  let port = 0
  const server = createServer((request, response) => {
    void respond(request, response, { port, session, options, readView })
  })
  server.headersTimeout = 5000
  server.maxConnections = 100
  const listening = once(server, 'listening')
  server.listen({ host: '127.0.0.1', port: options.port })
  await listening.catch((cause: unknown) => {
    throw new HyperkubeError('UI_NOT_LISTENING', `cannot listen at 127.0.0.1:${options.port}`, {
      hint: 'to use a free port: hyperkube ui --port 0',
      cause,
    })
  })
  const address = server.address()
  if (address !== null && typeof address === 'object') ({ port } = address)
  return {
    port,
    url: `http://127.0.0.1:${port}/?token=${session.token}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

type ReadSafeView = (request: ViewRequest) => Promise<string>

interface ResponseContext {
  readonly port: number
  readonly session: UiSession
  readonly options: UiServerOptions
  readonly readView: ReadSafeView
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  context: ResponseContext,
): Promise<void> {
  const {
    status,
    headers = {},
    body,
  } = await findResponse(request, context).catch((): UiResponse => ({
    status: 500,
    body: 'the request failed\n',
  }))
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    ...headers,
    ...commonHeaders,
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

interface UiResponse {
  readonly status: number
  readonly headers?: OutgoingHttpHeaders
  readonly body: string
}

async function findResponse(
  request: IncomingMessage,
  { port, session, options, readView }: ResponseContext,
): Promise<UiResponse> {
  const { method, headers, url = '/' } = request
  const { host, origin, 'sec-fetch-site': fetchSite, cookie } = headers
  const site = typeof fetchSite === 'string' ? fetchSite : undefined
  const refusal = findRefusal(
    { method, host, origin, fetchSite: site },
    port,
    options.applyPlan !== undefined,
  )
  if (refusal !== undefined) return refuse(refusal)
  const { pathname, searchParams } = new URL(url, 'http://127.0.0.1')
  const token = searchParams.get('token')
  // HEAD must not use up the token: link previews send it.
  if (pathname === '/' && token !== null && method === 'GET') {
    const newCookie = session.open(token)
    if (newCookie === undefined) return refuse(unauthorized)
    return { status: 303, headers: { location: session.path, 'set-cookie': newCookie }, body: '' }
  }
  if (!pathname.startsWith(session.path) || !session.accepts(cookie)) return refuse(unauthorized)
  const path = pathname.slice(session.path.length)
  if (method === 'POST') return respondToChange(request, path, options)
  const file = options.files.get(path)
  if (file !== undefined) return { status: 200, headers: { 'content-type': file.type }, body: file.content }
  const view = parseViewPath(path, searchParams)
  if (view === undefined) return refuse({ status: 404, message: 'there is no such page' })
  return { status: 200, headers: { 'content-type': 'application/json' }, body: await readView(view) }
}

/** Applies a plan if the path and the body name it, and the operator typed the name of the cluster. */
async function respondToChange(
  request: IncomingMessage,
  path: string,
  { applyPlan, now }: UiServerOptions,
): Promise<UiResponse> {
  const cluster = parseApplyPath(path)
  if (cluster === undefined || applyPlan === undefined)
    return refuse({ status: 404, message: 'there is no such change' })
  const result = await toOutcome(async () => {
    const { digest, confirm } = applyBody.parse(JSON.parse(await readBody(request)))
    if (confirm === cluster) return applyPlan({ cluster, digest, confirm })
    throw new HyperkubeError('UI_NOT_CONFIRMED', `the typed name is not ${cluster}`, {
      hint: 'type the name of the cluster below its plan',
    })
  })
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: toSafeText({ ...result, at: now().toISOString() }),
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of request) {
    if (!Buffer.isBuffer(part)) continue
    length += part.length
    if (length > maxBodyBytes) throw new HyperkubeError('UI_NOT_CONFIRMED', 'the request is too long')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

const maxBodyBytes = 4096

const unauthorized: Refusal = {
  status: 401,
  message: 'open the address that hyperkube ui printed; it works once, so start hyperkube ui again if needed',
}

function refuse({ status, message }: Refusal): UiResponse {
  return { status, headers: status === 405 ? { allow: 'GET, HEAD' } : {}, body: `${message}\n` }
}

const commonHeaders: OutgoingHttpHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** Reads a view and keeps only the fields of its schema. Masks text that has the form of a secret. */
async function readSafeView({ readView, now }: UiServerOptions, request: ViewRequest): Promise<string> {
  const result = await toOutcome(async () => viewSchemas[request.view].parse(await readView(request)))
  return toSafeText({ ...result, at: now().toISOString() })
}

function toSafeText(result: object): string {
  return JSON.stringify(createSecretMask().data(result), (_name, value: unknown) =>
    typeof value === 'string' ? toPrintable(value) : value,
  )
}

async function toOutcome(read: () => Promise<unknown>): Promise<ViewOutcome<unknown>> {
  try {
    return { state: 'read', document: await read() }
  } catch (error) {
    return { state: 'failed', failure: toFailure(error) }
  }
}
