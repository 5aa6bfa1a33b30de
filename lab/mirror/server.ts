import { readdir, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import { join, normalize } from 'node:path'
import { manifestType, sha256 } from './oci-archive.ts'
import { parseWanted, registryDirectory, type Wanted, wantedFiles } from './registry-paths.ts'
import { sendFile } from './send-file.ts'

const mirrorPort = 8080

export interface Mirror {
  readonly address: string
  close(): Promise<void>
}

/** Serves several directories as one tree, and the images in them as a registry, read-only, on one address. */
export async function serveMirror(
  roots: readonly string[],
  host: string,
  port = mirrorPort,
): Promise<Mirror> {
  const registries = await listRegistries(roots)
  const server = createServer((request, response) => {
    answer({ roots, registries }, request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const bound = server.address()
  const actual = typeof bound === 'object' && bound !== null ? bound.port : port
  return {
    address: `http://${host}:${actual}`,
    close: async () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Shelf {
  readonly roots: readonly string[]
  /** The names of the registries whose images are there. */
  readonly registries: readonly string[]
}

async function listRegistries(roots: readonly string[]): Promise<string[]> {
  const lists = await Promise.all(
    roots.map(async (root) => readdir(join(root, registryDirectory)).catch(() => [])),
  )
  return [...new Set(lists.flat())].toSorted()
}

async function answer(shelf: Shelf, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end()
    return
  }
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://mirror')
  const path = decodeURIComponent(pathname)
  if (path === '/v2/') {
    // A client asks this to learn whether it is at a registry, and whether it has to log in.
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    return
  }
  const wanted = parseWanted(path)
  const file = await find(
    shelf.roots,
    wanted === undefined ? [path] : wantedFiles(wanted, shelf.registries, searchParams.get('ns')),
  )
  if (file !== undefined) {
    await sendFile({ ...file, headers: await headersOf(file.path, wanted) }, request, response)
  } else if (wanted !== undefined) sendUnknown(wanted, response)
  else response.writeHead(404).end()
}

async function find(
  roots: readonly string[],
  paths: readonly string[],
): Promise<{ path: string; size: number } | undefined> {
  for (const path of paths.flatMap((one) => roots.map((root) => inside(root, one)))) {
    const found = await stat(path).catch(() => undefined)
    if (found?.isFile() === true) return { path, size: found.size }
  }
  return undefined
}

/** Normalized from the root on, so that no `..` leads out of it. */
function inside(root: string, path: string): string {
  return join(root, normalize(`/${path}`))
}

/** Whoever pulls a tag learns from these alone which image it is. */
async function headersOf(path: string, wanted: Wanted | undefined): Promise<OutgoingHttpHeaders> {
  if (wanted?.kind !== 'manifests') return { 'content-type': 'application/octet-stream' }
  return { 'content-type': manifestType, 'docker-content-digest': `sha256:${await sha256(path)}` }
}

/** In the words of the API, which clients pass on to people. */
function sendUnknown({ kind, name, reference }: Wanted, response: ServerResponse): void {
  const code = kind === 'manifests' ? 'MANIFEST_UNKNOWN' : 'BLOB_UNKNOWN'
  const message = `the mirror has no ${reference} of ${name}`
  response
    .writeHead(404, { 'content-type': 'application/json' })
    .end(JSON.stringify({ errors: [{ code, message }] }))
}
