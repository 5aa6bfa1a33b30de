import type { Argv } from '../kit/command.ts'
import { converse } from './running-program.ts'
import { runToEnd, withTimeout } from './exec.ts'
import type { Conversation, ExecOptions, ExecResult, OpenOptions, Remote } from './remote.ts'
import { type AsRoot, rightsOf, rightsProbe } from './root-permissions.ts'
import type { Channel, Transport } from './transport.ts'
import { upload } from './upload.ts'

/** All that a host can be asked for, over a way to start programs there. */
export function remoteOver(transport: Transport): Remote {
  const { host } = transport
  const asRoot = oncePerConnection(async (signal) => probeRights(transport, signal))

  const start = async (argv: Argv, { root = false, signal }: OpenOptions): Promise<Channel> => {
    signal.throwIfAborted()
    return transport.start(root ? (await asRoot(signal))(argv) : argv, signal)
  }

  const open = async (argv: Argv, options: OpenOptions): Promise<Conversation> =>
    converse(await start(argv, options), options.signal)

  const exec = async (argv: Argv, options: ExecOptions): Promise<ExecResult> => {
    const what = { host, argv }
    const { signal, clear } = withTimeout(options, what)
    try {
      return await runToEnd(await start(argv, { ...options, signal }), { ...options, signal }, what)
    } finally {
      clear()
    }
  }

  return {
    host,
    exec,
    open,
    upload: async (source, target, options) => upload({ host, open }, source, target, options),
    dial: async (address, port, { signal }) => {
      signal.throwIfAborted()
      return transport.dial({ address, port }, signal)
    },
    close: async () => transport.close(),
  }
}

async function probeRights(transport: Transport, signal: AbortSignal): Promise<AsRoot> {
  const { host, user } = transport
  const channel = await transport.start(rightsProbe, signal)
  return rightsOf(await runToEnd(channel, { signal }, { host, argv: rightsProbe }), host, user)
}

/** What was once found out holds; what could not be found out is asked for again. */
function oncePerConnection<T>(
  find: (signal: AbortSignal) => Promise<T>,
): (signal: AbortSignal) => Promise<T> {
  let found: T | undefined
  return async (signal) => (found ??= await find(signal))
}
