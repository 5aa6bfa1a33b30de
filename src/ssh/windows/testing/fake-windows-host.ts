import { once } from 'node:events'
import {
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises'
import { connect as connectTcp, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import ssh2, { type Connection, type ServerChannel, type SFTPWrapper } from 'ssh2'
import { hasCode } from '../../../kit/errors.ts'
import { connectBuiltIn } from '../../built-in-ssh.ts'
import type { ConnectOptions } from '../../options.ts'
import type { Remote } from '../../remote.ts'

/** A program of the fake host. It gets its arguments and standard streams and returns its exit code. */
export type FakeProgram = (
  args: readonly string[],
  streams: { readonly stdin: Readable; readonly stdout: Writable; readonly stderr: Writable },
) => Promise<number>

export interface FakeWindowsHost extends AsyncDisposable {
  /** Local directory that contains the drive C: as a subdirectory. */
  readonly root: string
  /** Converts a Windows path to a local path. */
  readonly toLocalPath: (path: string) => string
  readonly connect: (options?: Partial<ConnectOptions>) => Promise<Remote>
  /** All command lines that the host received. */
  readonly lines: readonly string[]
  /** Cuts all connections and refuses new ones until `restore`. */
  readonly cut: () => void
  readonly restore: () => void
}

const base = String.raw`C:\hyperkube`
const home = '/C:/Users/Administrator'

/**
 * Starts an sshd that behaves like the one of Windows. Command lines are passed to `program`, files are
 * served over sftp, and C: is a local directory.
 */
export async function startFakeWindowsHost(program: FakeProgram): Promise<FakeWindowsHost> {
  const directory = await mkdtemp(join(tmpdir(), 'hyperkube-windows-'))
  const keys = ssh2.utils.generateKeyPairSync('ed25519')
  const keyFile = join(directory, 'key')
  await writeFile(keyFile, keys.private, { mode: 0o600 })
  const root = join(directory, 'root')
  await mkdir(join(root, home), { recursive: true })
  await mkdir(join(root, 'C:', 'hyperkube'))
  const sockets = new Set<Socket>()
  const lines: string[] = []
  let isCut = false
  const server = new ssh2.Server({ hostKeys: [keys.private] }, (client: Connection) => {
    client.on('error', () => undefined)
    client.on('authentication', (context) =>
      context.method === 'publickey' ? context.accept() : context.reject(['publickey']),
    )
    client.on('session', (accept) => {
      const session = accept()
      session.on('exec', (take, _refuse, { command }) => {
        lines.push(command)
        runIn(take(), command, program)
      })
      session.on('sftp', (take) => serveFiles(take(), (path) => join(root, posix.resolve(home, path))))
    })
    client.on('tcpip', (accept, reject, { destIP, destPort }) => {
      const socket = connectTcp(destPort, destIP)
      socket.once('error', () => reject())
      socket.once('connect', () => {
        const channel = accept()
        channel.pipe(socket).pipe(channel)
        channel.on('close', () => socket.destroy())
      })
    })
  })
  // The listener in front of the sshd can cut all connections at once, like a failing network adapter.
  // noDelay is set as in sshd.
  const listener = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    if (isCut) socket.destroy()
    else server.injectSocket(socket)
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('it does not listen')
  const { port } = address
  return {
    lines,
    root,
    toLocalPath: (path) => join(root, path.replaceAll('\\', '/')),
    connect: async (options = {}) =>
      connectBuiltIn(
        {
          name: 'win1',
          alias: 'win1',
          address: '127.0.0.1',
          port,
          user: 'admin',
          keys: [{ path: keyFile, from: 'settings' }],
          onlyKeys: true,
          agent: false,
          bastions: [],
        },
        {
          signal: new AbortController().signal,
          verify: () => 'first-use',
          windows: { base },
          ...options,
        },
      ),
    cut() {
      isCut = true
      for (const socket of sockets) socket.destroy()
    },
    restore: () => void (isCut = false),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      listener.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function runIn(channel: ServerChannel, command: string, program: FakeProgram): void {
  channel.on('error', () => undefined)
  const end = (code: number): void => {
    channel.exit(code)
    channel.end()
  }
  program(command.split(' '), { stdin: channel.stdin, stdout: channel.stdout, stderr: channel.stderr }).then(
    end,
    (error: unknown) => {
      channel.stderr.write(String(error))
      end(1)
    },
  )
}

/** Serves a directory with the library's sftp server. */
function serveFiles(sftp: SFTPWrapper, toLocalPath: (path: string) => string): void {
  const { STATUS_CODE, OPEN_MODE } = ssh2.utils.sftp
  const handles = new Map<string, FileHandle>()
  const respond = (id: number, act: () => Promise<void>): void => {
    act().catch((error: unknown) => {
      sftp.status(id, hasCode(error, 'ENOENT') ? STATUS_CODE.NO_SUCH_FILE : STATUS_CODE.FAILURE, 'Failure')
    })
  }
  sftp.on('close', () => {
    for (const file of handles.values()) file.close().catch(() => undefined)
  })
  const done = (id: number): void => sftp.status(id, STATUS_CODE.OK)
  const findFile = (handle: Buffer): FileHandle => {
    const file = handles.get(handle.toString())
    if (file === undefined) throw new Error('there is no such handle')
    return file
  }
  sftp.on('OPEN', (id, path, flags) =>
    respond(id, async () => {
      const file = await open(toLocalPath(path), (flags & OPEN_MODE.WRITE) === 0 ? 'r' : 'w')
      const name = String(handles.size + 1)
      handles.set(name, file)
      sftp.handle(id, Buffer.from(name))
    }),
  )
  sftp.on('WRITE', (id, handle, offset, data) =>
    respond(id, async () => {
      await findFile(handle).write(data, 0, data.length, offset)
      done(id)
    }),
  )
  sftp.on('READ', (id, handle, offset, length) =>
    respond(id, async () => {
      const { bytesRead, buffer } = await findFile(handle).read(Buffer.alloc(length), 0, length, offset)
      if (bytesRead === 0) sftp.status(id, STATUS_CODE.EOF)
      else sftp.data(id, buffer.subarray(0, bytesRead))
    }),
  )
  sftp.on('CLOSE', (id, handle) =>
    respond(id, async () => {
      await handles.get(handle.toString())?.close()
      done(id)
    }),
  )
  sftp.on('STAT', (id, path) =>
    respond(id, async () => {
      const { mode, uid, gid, size, atimeMs, mtimeMs } = await stat(toLocalPath(path))
      sftp.attrs(id, { mode, uid, gid, size, atime: atimeMs / 1000, mtime: mtimeMs / 1000 })
    }),
  )
  sftp.on('REALPATH', (id, path) => {
    const filename = posix.resolve(home, path)
    sftp.name(id, [
      { filename, longname: filename, attrs: { mode: 0, uid: 0, gid: 0, size: 0, atime: 0, mtime: 0 } },
    ])
  })
  const listed = new Set<string>()
  sftp.on('OPENDIR', (id, path) =>
    respond(id, async () => {
      await stat(toLocalPath(path))
      sftp.handle(id, Buffer.from(path))
    }),
  )
  sftp.on('READDIR', (id, handle) =>
    respond(id, async () => {
      const path = handle.toString()
      if (listed.has(path)) {
        listed.delete(path)
        sftp.status(id, STATUS_CODE.EOF)
        return
      }
      listed.add(path)
      const entries = await readdir(toLocalPath(path), { withFileTypes: true })
      const attrs = { mode: 0o100644, uid: 0, gid: 0, size: 1, atime: 1, mtime: 1 }
      const rows = entries.map((entry) => ({
        filename: entry.name,
        longname: `${entry.isDirectory() ? 'd' : '-'}rwxr-xr-x 1 a a 1 Jan 1 00:00 ${entry.name}`,
        attrs,
      }))
      const here = { filename: '.', longname: 'drwxr-xr-x 1 a a 1 Jan 1 00:00 .', attrs }
      sftp.name(id, [here, ...rows])
    }),
  )
  sftp.on('RMDIR', (id, path) =>
    respond(id, async () => {
      await rmdir(toLocalPath(path))
      done(id)
    }),
  )
  sftp.on('MKDIR', (id, path) =>
    respond(id, async () => {
      await mkdir(toLocalPath(path))
      done(id)
    }),
  )
  sftp.on('REMOVE', (id, path) =>
    respond(id, async () => {
      await rm(toLocalPath(path))
      done(id)
    }),
  )
  sftp.on('EXTENDED', (id, name, data) =>
    respond(id, async () => {
      const length = data.readUInt32BE()
      const [from, to] = [data.subarray(4, 4 + length), data.subarray(8 + length)]
      if (name !== 'posix-rename@openssh.com') throw new Error(`${name} is not known`)
      await stat(dirname(toLocalPath(to.toString())))
      await rename(toLocalPath(from.toString()), toLocalPath(to.toString()))
      done(id)
    }),
  )
}
