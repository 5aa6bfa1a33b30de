import { buildWindowsPaths, versionPattern } from '../../contract/host-paths.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { runToEnd, withTimeout, wrapProgram } from '../exec.ts'
import type { Remote } from '../remote.ts'
import type { Channel, SshTransport } from '../transport.ts'
import type { HostCallTarget } from './call-host.ts'
import { buildWindowsCommandLine, toSftpPath } from './command-line.ts'
import { SftpClient } from './sftp.ts'
import { uploadProgram, uploadToWindows } from './upload-windows.ts'

/**
 * Creates a Remote for a Windows host with OpenSSH. Commands are not quoted, files are sent over sftp, and
 * the hyperkube program on the host does all other operations. The login must be an administrator, because
 * Windows has no sudo.
 */
export function createWindowsRemote(transport: SshTransport, { base }: { readonly base: string }): Remote {
  const { host } = transport
  const paths = buildWindowsPaths(base)

  const start = async (argv: Parameters<Remote['exec']>[0], signal: AbortSignal): Promise<Channel> => {
    signal.throwIfAborted()
    return transport.startLine(buildWindowsCommandLine(argv), signal)
  }

  const open: Remote['open'] = async (argv, { signal }) => wrapProgram(await start(argv, signal), signal)

  const withSftp = async <T>(signal: AbortSignal, use: (sftp: SftpClient) => Promise<T>): Promise<T> => {
    signal.throwIfAborted()
    const sftp = await SftpClient.open(host, await transport.subsystem('sftp', signal), signal)
    try {
      return await use(sftp)
    } finally {
      sftp.close()
    }
  }

  const readCurrentVersion = async (signal: AbortSignal): Promise<string | undefined> => {
    const text = await withSftp(signal, async (sftp) => sftp.read(toSftpPath(paths.currentVersionFile)))
    const version = text?.trim() ?? ''
    return versionPattern.test(version) ? version : undefined
  }

  const findCallTarget = async (signal: AbortSignal): Promise<HostCallTarget> => {
    const version = await readCurrentVersion(signal)
    if (version === undefined) throw buildNotInstalledError(host)
    return { host, base, program: paths.program(version), open }
  }

  return {
    host,
    open,
    async exec(argv, options) {
      const command = { host, argv }
      const { signal, clear } = withTimeout(options, command)
      try {
        return await runToEnd(await start(argv, signal), { ...options, signal }, command)
      } finally {
        clear()
      }
    },
    upload: async (source, target, options) =>
      uploadToWindows({ host, withSftp, callee: findCallTarget }, source, target, options),
    dial: async (address, port, { signal }) => {
      signal.throwIfAborted()
      return transport.dial({ address, port }, signal)
    },
    close: async () => transport.close(),
    windows: {
      base,
      readCurrentVersion,
      removePrograms: async (signal) =>
        withSftp(signal, async (sftp) => {
          await sftp.removeTree(toSftpPath(paths.programs))
          // The removal may fail, because the directory may contain files that do not belong to hyperkube.
          await sftp.removeDirectory(toSftpPath(base)).catch(() => undefined)
        }),
      installProgram: async (source, name, options) =>
        uploadProgram({ host, withSftp }, source, name, options),
    },
  }
}

function buildNotInstalledError(host: string): HyperkubeError {
  return new HyperkubeError('AGENT_NOT_THERE', 'hyperkube is not installed on the host', {
    host,
    hint: 'hyperkube up',
  })
}
