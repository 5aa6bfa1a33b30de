import type { Listening, ListenWish } from '../../contract/network-probe.ts'
import { openTcp, openUdp, type OpenPort } from './open-port.ts'

interface Held {
  readonly token: string
  readonly close: () => Promise<void>
}

/** Ports that are held open for other hosts to look for: for one asker at a time, and for a moment. */
export class Listeners {
  #held: Held | undefined
  /** Whether somebody has them, or is about to. */
  #busy = false

  /** Opens those that are free. Who asks while another one has some gets none: to them all are taken. */
  async listen({ address, tcp, udp, token, for: time }: ListenWish, gone: AbortSignal): Promise<Listening> {
    if (this.#busy) return { tcp: [], udp: [] }
    this.#busy = true
    const [openedTcp, openedUdp] = await Promise.all([
      allOf(tcp, async (port) => openTcp(address, port, token)),
      allOf(udp, async (port) => openUdp(address, port, token)),
    ])
    this.#hold([...openedTcp, ...openedUdp], token, time, gone)
    return { tcp: openedTcp.map(({ port }) => port), udp: openedUdp.map(({ port }) => port) }
  }

  /** The ports are free again once this has ended. */
  async hush(token: string): Promise<void> {
    if (this.#held?.token === token) await this.#held.close()
  }

  #hold(ports: readonly OpenPort[], token: string, time: number, gone: AbortSignal): void {
    let closing: Promise<void> | undefined
    const close = async (): Promise<void> => {
      clearTimeout(timer)
      gone.removeEventListener('abort', leave)
      await Promise.all(ports.map(async (port) => port.close()))
      this.#held = undefined
      this.#busy = false
    }
    const once = async (): Promise<void> => {
      closing ??= close()
      await closing
    }
    const leave = (): void => void once()
    const timer = setTimeout(leave, time)
    gone.addEventListener('abort', leave, { once: true })
    this.#held = { token, close: once }
    if (gone.aborted) leave()
  }
}

async function allOf(
  ports: readonly number[],
  open: (port: number) => Promise<OpenPort | undefined>,
): Promise<OpenPort[]> {
  const opened = await Promise.all(ports.map(open))
  return opened.filter((port) => port !== undefined)
}
