import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'
import { Tunnel } from '../kit/tunnel.ts'
import { bound } from './destroy-on-abort.ts'
import { dialFailed, type Target } from './dial-errors.ts'
import { connectionLost } from './login-errors.ts'
import { processChannel } from './process-channel.ts'
import { type Destination, type Master, plainWords } from './system-master.ts'
import { unlessAborted } from './deadline.ts'

/** A connection that a host makes, by a program whose input and output it is. */
export async function systemDial(
  host: string,
  { config, name }: Destination,
  master: Master,
  target: Target,
  signal: AbortSignal,
): Promise<Duplex> {
  signal.throwIfAborted()
  master.lost.throwIfAborted()
  const { address, port } = target
  const place = `${address.includes(':') ? `[${address}]` : address}:${port}`
  // That the connection stands it says only where it tells much. Without the one that all share it would log in anew.
  const settings = ['-o', 'LogLevel=DEBUG1', '-o', 'ProxyCommand=false']
  const channel = processChannel(['ssh', '-F', config, ...settings, '-W', place, name], plainWords())
  try {
    await unlessAborted<void>([master.lost, signal], ({ succeed, fail }) => {
      let stands = false
      createInterface({ input: channel.stderr }).on('line', (line) => {
        if (line.includes('master session id')) stands = succeed()
      })
      const refuse = async (): Promise<void> => {
        if (stands) return
        if (await master.isAlive()) fail(dialFailed(host, target, master.refusal() ?? 'ssh does not say why'))
        else fail(connectionLost(host, 'ssh has ended'))
      }
      channel.ended.then(refuse).catch(fail)
    })
  } catch (error) {
    channel.kill(error)
    throw error
  }
  const { stdout, stdin, kill } = channel
  return bound(new Tunnel(async () => ({ readable: stdout, writable: stdin, close: kill })), [
    master.lost,
    signal,
  ])
}
