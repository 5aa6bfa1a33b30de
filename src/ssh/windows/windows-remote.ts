import { versionPattern, windowsPlaces } from '../../contract/windows-paths.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { converse } from '../running-program.ts'
import { runToEnd, withTimeout } from '../exec.ts'
import type { Remote } from '../remote.ts'
import type { Channel, SshTransport } from '../transport.ts'
import type { Callee } from './call-host.ts'
import { sftpPath, windowsLine } from './command-line.ts'
import { Sftp } from './sftp.ts'
import { bring, uploadTo } from './upload-windows.ts'

/**
 * A Windows host by OpenSSH. Programs are started with a few plain words, files go by sftp, and whatever else has to be
 * done is done by our own program there. Who logs in has to be an administrator: there is no other root to become.
 */
export function windowsRemote(transport: SshTransport, { base }: { readonly base: string }): Remote {
  const { host } = transport
  const places = windowsPlaces(base)

  const start = async (argv: Parameters<Remote['exec']>[0], signal: AbortSignal): Promise<Channel> => {
    signal.throwIfAborted()
    return transport.startLine(windowsLine(argv), signal)
  }

  const open: Remote['open'] = async (argv, { signal }) => converse(await start(argv, signal), signal)

  const withSftp = async <T>(signal: AbortSignal, use: (sftp: Sftp) => Promise<T>): Promise<T> => {
    signal.throwIfAborted()
    const sftp = await Sftp.open(host, await transport.subsystem('sftp', signal), signal)
    try {
      return await use(sftp)
    } finally {
      sftp.close()
    }
  }

  const current = async (signal: AbortSignal): Promise<string | undefined> => {
    const text = await withSftp(signal, async (sftp) => sftp.read(sftpPath(places.current)))
    const version = text?.trim() ?? ''
    return versionPattern.test(version) ? version : undefined
  }

  const callee = async (signal: AbortSignal): Promise<Callee> => {
    const version = await current(signal)
    if (version === undefined) throw nothingThere(host)
    return { host, base, program: places.program(version), open }
  }

  return {
    host,
    open,
    async exec(argv, options) {
      const what = { host, argv }
      const { signal, clear } = withTimeout(options, what)
      try {
        return await runToEnd(await start(argv, signal), { ...options, signal }, what)
      } finally {
        clear()
      }
    },
    upload: async (source, target, options) => uploadTo({ host, withSftp, callee }, source, target, options),
    dial: async (address, port, { signal }) => {
      signal.throwIfAborted()
      return transport.dial({ address, port }, signal)
    },
    close: async () => transport.close(),
    windows: {
      base,
      current,
      clear: async (signal) =>
        withSftp(signal, async (sftp) => {
          await sftp.removeTree(sftpPath(places.programs))
          // It may have been somebody's before us, or have become it since.
          await sftp.removeDirectory(sftpPath(base)).catch(() => undefined)
        }),
      bring: async (source, name, options) => bring({ host, withSftp }, source, name, options),
    },
  }
}

function nothingThere(host: string): HyperkubeError {
  return new HyperkubeError('AGENT_NOT_THERE', 'hyperkube is not on the host', { host, hint: 'hyperkube up' })
}
