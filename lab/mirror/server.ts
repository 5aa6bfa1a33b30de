import { readdir, stat } from 'node:fs/promises'
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { join, normalize } from 'node:path'
import { hashFile } from '../../src/kit/files.ts'
import { manifestType } from './oci-archive.ts'
import {
  parseRegistryRequest,
  registryDirectory,
  type RegistryRequest,
  listCandidateFiles,
} from './registry-paths.ts'
import { sendFile } from './send-file.ts'

const mirrorPort = 8080

export interface Mirror {
  readonly address: string
  close(): Promise<void>
}

/** How clients reach a mirror. By default over http and without a login. */
export interface MirrorAccess {
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Login that the registry demands. Programs are served without it. */
  readonly login?: { readonly username: string; readonly password: string }
}

/** Serves several directories as one read-only tree, and the images in them as a registry, on one address. */
export async function serveMirror(
  roots: readonly string[],
  host: string,
  port = mirrorPort,
  { tls, login }: MirrorAccess = {},
): Promise<Mirror> {
  const registries = await listRegistries(roots)
  const isAllowed = createLoginCheck(login)
  const listener: RequestListener = (request, response) => {
    if (isAllowed(request)) respond({ roots, registries }, request, response).catch(() => response.destroy())
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="mirror"' }).end()
  }
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const boundAddress = server.address()
  const actualPort = typeof boundAddress === 'object' && boundAddress !== null ? boundAddress.port : port
  return {
    address: `${tls === undefined ? 'http' : 'https'}://${host}:${actualPort}`,
    close: async () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function createLoginCheck(login: MirrorAccess['login']): (request: IncomingMessage) => boolean {
  if (login === undefined) return () => true
  const expected = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`
  return ({ url, headers }) => url?.startsWith('/v2/') !== true || headers.authorization === expected
}

interface MirrorContent {
  readonly roots: readonly string[]
  /** Names of the registries whose images are available. */
  readonly registries: readonly string[]
}

async function listRegistries(roots: readonly string[]): Promise<string[]> {
  const lists = await Promise.all(
    roots.map(async (root) => readdir(join(root, registryDirectory)).catch(() => [])),
  )
  return [...new Set(lists.flat())].toSorted()
}

async function respond(
  content: MirrorContent,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end()
    return
  }
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://mirror')
  const path = decodeURIComponent(pathname)
  if (path === '/v2/') {
    // Clients request /v2/ to find out whether the server is a registry and requires a login. Status 200
    // means a registry without a login.
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    return
  }
  const registryRequest = parseRegistryRequest(path)
  const file = await findFile(
    content.roots,
    registryRequest === undefined
      ? [path]
      : listCandidateFiles(registryRequest, content.registries, searchParams.get('ns')),
  )
  if (file !== undefined) {
    await sendFile({ ...file, headers: await buildHeaders(file.path, registryRequest) }, request, response)
  } else if (registryRequest !== undefined) sendUnknown(registryRequest, response)
  else response.writeHead(404).end()
}

async function findFile(
  roots: readonly string[],
  paths: readonly string[],
): Promise<{ path: string; size: number } | undefined> {
  for (const path of paths.flatMap((one) => roots.map((root) => resolveInside(root, one)))) {
    const found = await stat(path).catch(() => undefined)
    if (found?.isFile() === true) return { path, size: found.size }
  }
  return undefined
}

/** Joins root and path. The path is normalized first, so `..` cannot escape the root. */
function resolveInside(root: string, path: string): string {
  return join(root, normalize(`/${path}`))
}

/**
 * Builds the response headers. The headers of a manifest contain its digest, which a client needs when it
 * pulls a tag.
 */
async function buildHeaders(
  path: string,
  registryRequest: RegistryRequest | undefined,
): Promise<OutgoingHttpHeaders> {
  if (registryRequest?.kind !== 'manifests') return { 'content-type': 'application/octet-stream' }
  return { 'content-type': manifestType, 'docker-content-digest': `sha256:${await hashFile(path)}` }
}

/** Sends an error in the format of the distribution API. Clients show its message to users. */
function sendUnknown({ kind, name, reference }: RegistryRequest, response: ServerResponse): void {
  const code = kind === 'manifests' ? 'MANIFEST_UNKNOWN' : 'BLOB_UNKNOWN'
  const message = `the mirror has no ${reference} of ${name}`
  response
    .writeHead(404, { 'content-type': 'application/json' })
    .end(JSON.stringify({ errors: [{ code, message }] }))
}
