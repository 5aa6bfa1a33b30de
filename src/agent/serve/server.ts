import { chmod, mkdir, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { requestFormat } from '../../contract/request.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { answer, type Desk, response } from './answer.ts'
import { lines } from './lines.ts'
import { failureOf } from './runs.ts'

/** Where root finds the agent of a host. */
export const agentSocket = '/run/hyperkube/agent.sock'

/** Listens for requests, one in a line; answers in lines. Only root comes near it. */
export async function serveAgent(desk: Desk, path: string): Promise<Server> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  // Left behind by an agent that was killed.
  await rm(path, { force: true })
  // Whoever has asked all may close their side, and still hear the answers.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    converse(desk, socket).catch(() => socket.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  await chmod(path, 0o600)
  return server
}

async function converse(desk: Desk, socket: Socket): Promise<void> {
  const gone = new AbortController()
  socket.once('close', () => gone.abort())
  socket.on('error', () => gone.abort())
  for await (const line of lines(socket)) {
    for await (const message of answerLine(desk, line, gone.signal)) {
      if (gone.signal.aborted) return
      if (!socket.write(`${JSON.stringify(message)}\n`)) await drained(socket, gone.signal)
    }
  }
  socket.end()
}

async function* answerLine(desk: Desk, line: string, signal: AbortSignal): ReturnType<typeof answer> {
  let request
  try {
    request = readVersioned(requestFormat, JSON.parse(line))
  } catch (error) {
    yield response({ type: 'refused', ...failureOf(error) })
    return
  }
  yield* answer(desk, request, signal)
}

async function drained(socket: Socket, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    socket.once('drain', resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
