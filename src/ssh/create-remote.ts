import type { Argv } from '../kit/command.ts'
import { wrapProgram } from './running-program.ts'
import { runToEnd, withTimeout } from './exec.ts'
import type { RunningProgram, ExecOptions, ExecResult, OpenOptions, Remote } from './remote.ts'
import { type RootWrapper, parsePermissions, permissionsProbe } from './root-permissions.ts'
import type { Channel, Transport } from './transport.ts'
import { uploadFile } from './upload.ts'

/** Builds a Remote on top of a transport. */
export function createRemote(transport: Transport): Remote {
  const { host } = transport
  const asRoot = cacheResult(async (signal) => probePermissions(transport, signal))

  const start = async (argv: Argv, { root = false, signal }: OpenOptions): Promise<Channel> => {
    signal.throwIfAborted()
    return transport.start(root ? (await asRoot(signal))(argv) : argv, signal)
  }

  const open = async (argv: Argv, options: OpenOptions): Promise<RunningProgram> =>
    wrapProgram(await start(argv, options), options.signal)

  const exec = async (argv: Argv, options: ExecOptions): Promise<ExecResult> => {
    const command = { host, argv }
    const { signal, clear } = withTimeout(options, command)
    try {
      return await runToEnd(await start(argv, { ...options, signal }), { ...options, signal }, command)
    } finally {
      clear()
    }
  }

  return {
    host,
    exec,
    open,
    upload: async (source, target, options) => uploadFile({ host, open }, source, target, options),
    dial: async (address, port, { signal }) => {
      signal.throwIfAborted()
      return transport.dial({ address, port }, signal)
    },
    close: async () => transport.close(),
  }
}

async function probePermissions(transport: Transport, signal: AbortSignal): Promise<RootWrapper> {
  const { host, user } = transport
  const channel = await transport.start(permissionsProbe, signal)
  return parsePermissions(await runToEnd(channel, { signal }, { host, argv: permissionsProbe }), host, user)
}

/** Caches the first successful result. Failures are not cached. */
function cacheResult<T>(find: (signal: AbortSignal) => Promise<T>): (signal: AbortSignal) => Promise<T> {
  let found: T | undefined
  return async (signal) => (found ??= await find(signal))
}
