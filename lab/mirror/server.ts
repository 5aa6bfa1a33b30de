import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join, normalize } from 'node:path'
import { pipeline } from 'node:stream/promises'

const mirrorPort = 8080

export interface Mirror {
  readonly address: string
  close(): Promise<void>
}

/** Serves several directories as one tree, read-only, on one address. */
export async function serveMirror(
  roots: readonly string[],
  host: string,
  port = mirrorPort,
): Promise<Mirror> {
  const server = createServer((request, response) => {
    answer(roots, request, response).catch(() => response.destroy())
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

async function answer(
  roots: readonly string[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://mirror')
  const file = await find(roots, decodeURIComponent(pathname))
  if (file === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) {
    response.writeHead(file === undefined ? 404 : 405).end()
    return
  }
  response.writeHead(200, { 'content-length': file.size, 'content-type': 'application/octet-stream' })
  if (request.method === 'HEAD') response.end()
  else await pipeline(createReadStream(file.path, { highWaterMark: 1 << 20 }), response)
}

async function find(
  roots: readonly string[],
  pathname: string,
): Promise<{ path: string; size: number } | undefined> {
  for (const root of roots) {
    // Normalized from the root on, so that no `..` leads out of it.
    const path = join(root, normalize(`/${pathname}`))
    const found = await stat(path).catch(() => undefined)
    if (found?.isFile() === true) return { path, size: found.size }
  }
  return undefined
}
