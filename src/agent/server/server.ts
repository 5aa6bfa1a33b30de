import { once } from 'node:events'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { requestFormat } from '../../contract/request.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import { readLines } from '../../kit/lines.ts'
import { toRunFailure } from '../runs/runs.ts'
import { agentPipe } from './bridge.ts'
import { buildResponse, handleRequest, type ServerDeps } from './dispatch.ts'
import { authenticateClient } from './handshake.ts'

/** After `close`, a client that does not read its responses is disconnected after this time. */
const closeTimeoutMs = 5000

export interface AgentServer {
  /** Stops accepting requests and completes responses in progress. */
  close(): Promise<void>
}

/**
 * Listens for requests, one per line, and writes each response as a line. If `key` is given, clients must
 * first prove that they know the key.
 */
export async function serveAgent(deps: ServerDeps, path: string, key?: Buffer): Promise<AgentServer> {
  // A Windows pipe is not a file and disappears with its process. It needs no directory, and no old socket
  // remains. Only the system and administrators can connect to it.
  const isFile = path !== agentPipe
  if (isFile) await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  // A killed agent leaves its socket behind, so an old socket is removed first.
  if (isFile) await rm(path, { force: true })
  /** Open connections, each with a function that ends it after the current response. */
  const connections = new Map<Socket, () => void>()
  // A client may close its sending side and still read the responses, so the connection must stay half open.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const closing = Promise.withResolvers<undefined>()
    connections.set(socket, () => closing.resolve(undefined))
    socket.once('close', () => connections.delete(socket))
    serveConnection({ ...deps, key }, socket, closing.promise).catch(() => socket.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    // Node.js creates a pipe with FILE_FLAG_FIRST_PIPE_INSTANCE, so the agent never shares its pipe with
    // another process.
    server.once('error', (cause) => reject(hasCode(cause, 'EADDRINUSE') ? pipeTaken(path, cause) : cause))
    server.listen(path, resolve)
  })
  if (isFile) await chmod(path, 0o600)
  return {
    async close() {
      const timer = setTimeout(() => connections.forEach((_, socket) => socket.destroy()), closeTimeoutMs)
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
      connections.forEach((endConnection) => endConnection())
      await closed
      clearTimeout(timer)
    },
  }
}

function pipeTaken(path: string, cause: Error): HyperkubeError {
  return new HyperkubeError('AGENT_PIPE_TAKEN', `another process already serves ${path}`, {
    hint: 'find the process that serves the pipe, and end it; the agent then starts by itself',
    cause,
  })
}

async function serveConnection(
  { key, ...deps }: ServerDeps & { readonly key: Buffer | undefined },
  socket: Socket,
  closing: Promise<undefined>,
): Promise<void> {
  const disconnected = new AbortController()
  socket.once('close', () => disconnected.abort())
  socket.on('error', () => disconnected.abort())
  const requests = readLines(socket)
  const connection = { lines: requests, write: (line: string) => socket.write(line) }
  if (key !== undefined && !(await authenticateClient(connection, key))) {
    socket.destroy()
    return
  }
  for (;;) {
    const next = await Promise.race([requests.next(), closing])
    if (next === undefined || next.done === true) break
    for await (const message of handleLine(deps, next.value, disconnected.signal)) {
      if (disconnected.signal.aborted) return
      if (!socket.write(`${JSON.stringify(message)}\n`)) await waitForDrain(socket, disconnected.signal)
    }
  }
  // Closes the socket after all pending data was sent.
  socket.destroySoon()
}

async function* handleLine(
  deps: ServerDeps,
  line: string,
  signal: AbortSignal,
): ReturnType<typeof handleRequest> {
  let request
  try {
    request = readVersioned(requestFormat, JSON.parse(line))
  } catch (error) {
    yield buildResponse({ type: 'refused', ...toRunFailure(error) })
    return
  }
  yield* handleRequest(deps, request, signal)
}

/** Waits until the client has received pending data, or has disconnected. */
async function waitForDrain(socket: Socket, signal: AbortSignal): Promise<void> {
  try {
    await once(socket, 'drain', { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
