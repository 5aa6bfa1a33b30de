import { createServer, type Socket } from 'node:net'
import { win32 } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { serveCall } from '../../src/agent/host-call/handle-host-call.ts'
import type { HostCallContext } from '../../src/agent/host-call/host-call-context.ts'
import { createRunningRelease } from '../../src/agent/host/running-release.ts'
import { readAgentKey } from '../../src/agent/server/agent-key.ts'
import { bridgeToAgent } from '../../src/agent/server/bridge.ts'
import { buildWindowsPaths } from '../../src/contract/host-paths.ts'
import { fileExists } from '../../src/kit/files.ts'
import { toAsciiJson } from '../../src/kit/text.ts'
import { summarizeMachine } from './machine-summary.ts'
import { loginHome } from './paths.ts'
import { injectFault } from './simulator/faults.ts'
import type { SimulatedWindows } from './simulator/simulated-windows.ts'
import { parseTestCommand, type TestCommand } from './test-command.ts'

export interface HostSockets {
  /** Socket that receives the command lines of ssh sessions, and test commands. */
  readonly shellSocket: string
  readonly agentSocket: string
}

/**
 * Runs the command lines of ssh sessions, and test commands. Each connection sends a command line first and
 * then its standard input.
 */
export async function serveShell(windows: SimulatedWindows, sockets: HostSockets): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined)
    const write = (text: string): void => void socket.write(text)
    readFirstLine(socket)
      .then(async ({ line, rest }) => runShellLine(windows, line, { requests: rest, write, ...sockets }))
      .then(
        () => socket.end(),
        (error: unknown) => socket.end(`${String(error)}\r\n`),
      )
  })
  await new Promise<void>((resolve) => void server.listen(sockets.shellSocket, resolve))
}

export interface ShellSession extends Pick<HostSockets, 'agentSocket'> {
  /** Standard input of the command. */
  readonly requests: Readable
  readonly write: (text: string) => void
}

export async function runShellLine(
  windows: SimulatedWindows,
  line: string,
  session: ShellSession,
): Promise<void> {
  const { requests, write, agentSocket } = session
  const testCommand = parseTestCommand(line)
  if (testCommand !== undefined) return write(`${JSON.stringify(runTestCommand(windows, testCommand))}\n`)
  const [program = '', command = ''] = line.split(' ')
  const file = win32.resolve(loginHome, program)
  if (!(await fileExists(windows.toLocalPath(file))))
    return write(`'${program}' is not recognized as an internal or external command\r\n`)
  if (command === 'agent-call') {
    const { signal } = new AbortController()
    const respond = (text: string): void => write(toAsciiJson(text))
    const { files, layout } = windows.host
    await readAgentKey(files, layout.state)
      .then(async (key) => bridgeToAgent({ path: agentSocket, key, requests, onResponse: respond, signal }))
      .catch(() => undefined)
  } else if (command === 'host-call') {
    await serveCall({ requests, respond: write, createContext: createHostCallContext(windows, file) })
  }
}

/**
 * Returns a function that creates the context of a host-call. `file` is the uploaded program that serves the
 * call. The context reports `file` as the running release, so that the call can install it as the agent.
 */
function createHostCallContext({ host, toLocalPath }: SimulatedWindows, file: string) {
  return (base: string, gone: AbortSignal): HostCallContext => ({
    host: { ...host, release: createRunningRelease(host.release.version, toLocalPath, toLocalPath(file)) },
    paths: buildWindowsPaths(base),
    arch: 'x64',
    readDiskUsage: async () => 0.5,
    callerGone: gone,
  })
}

function runTestCommand({ machine }: SimulatedWindows, testCommand: TestCommand): object | boolean {
  switch (testCommand.lab) {
    case 'summarize':
      return summarizeMachine(machine)
    case 'remove-rule':
      return machine.rules.delete(testCommand.name)
    default:
      injectFault(machine, testCommand)
      return true
  }
}

/** Reads the first line of a connection. Returns it with a stream of the remaining input. */
async function readFirstLine(socket: Socket): Promise<{ line: string; rest: PassThrough }> {
  const rest = new PassThrough()
  let head: Buffer = Buffer.alloc(0)
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk])
      const end = head.indexOf(0x0a)
      if (end === -1) return
      socket.off('data', onData)
      rest.write(head.subarray(end + 1))
      socket.pipe(rest)
      resolve({ line: head.subarray(0, end).toString('utf8'), rest })
    }
    socket.on('data', onData)
    socket.once('close', () => reject(new Error('the connection ended before a line was complete')))
  })
}
