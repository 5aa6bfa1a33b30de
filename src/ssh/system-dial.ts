import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'
import { Tunnel } from '../kit/tunnel.ts'
import { destroyOnAbort } from './destroy-on-abort.ts'
import { buildDialError, type DialTarget } from './dial-errors.ts'
import { buildConnectionLostError } from './login-errors.ts'
import { startProcessChannel } from './process-channel.ts'
import { type SystemDestination, type SshMaster, englishEnvironment } from './system-master.ts'
import { waitUnlessAborted } from './deadline.ts'

/** Opens a connection from the host with `ssh -W`. Input and output of this ssh process become the stream. */
export async function systemDial(
  host: string,
  { config, name }: SystemDestination,
  master: SshMaster,
  target: DialTarget,
  signal: AbortSignal,
): Promise<Duplex> {
  signal.throwIfAborted()
  master.lost.throwIfAborted()
  const { address, port } = target
  const endpoint = `${address.includes(':') ? `[${address}]` : address}:${port}`
  // ssh reports an open connection only at debug level. ProxyCommand=false prevents a new login if the shared
  // connection is lost.
  const settings = ['-o', 'LogLevel=DEBUG1', '-o', 'ProxyCommand=false']
  const channel = startProcessChannel(
    ['ssh', '-F', config, ...settings, '-W', endpoint, name],
    englishEnvironment(),
  )
  try {
    await waitUnlessAborted<void>([master.lost, signal], ({ succeed, fail }) => {
      let isOpen = false
      createInterface({ input: channel.stderr }).on('line', (line) => {
        if (line.includes('master session id')) isOpen = succeed()
      })
      const refuse = async (): Promise<void> => {
        if (isOpen) return
        if (await master.isAlive())
          fail(buildDialError(host, target, master.refusal() ?? 'ssh does not say why'))
        else fail(buildConnectionLostError(host, 'ssh has ended'))
      }
      channel.ended.then(refuse).catch(fail)
    })
  } catch (error) {
    channel.kill(error)
    throw error
  }
  const { stdout, stdin, kill } = channel
  return destroyOnAbort(new Tunnel(async () => ({ readable: stdout, writable: stdin, close: kill })), [
    master.lost,
    signal,
  ])
}
