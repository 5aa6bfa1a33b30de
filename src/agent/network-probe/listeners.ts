import type { Listening, ListenSpec } from '../../contract/network-probe.ts'
import { openTcpPort, openUdpPort, type OpenPort } from './open-port.ts'

interface OpenListener {
  readonly token: string
  readonly close: () => Promise<void>
}

/**
 * Opens ports on this host for a short time, so that other hosts can probe them. Only one client at a time
 * can use them.
 */
export class Listeners {
  #open: OpenListener | undefined
  /** True from a `listen` call until its ports are closed. */
  #busy = false

  /** Opens those of the ports that are free. While another client uses the listeners, opens no ports. */
  async listen(
    { address, tcp, udp, token, for: durationMs }: ListenSpec,
    disconnected: AbortSignal,
  ): Promise<Listening> {
    if (this.#busy) return { tcp: [], udp: [] }
    this.#busy = true
    const [openedTcp, openedUdp] = await Promise.all([
      openAll(tcp, async (port) => openTcpPort(address, port, token)),
      openAll(udp, async (port) => openUdpPort(address, port, token)),
    ])
    this.#keepOpen([...openedTcp, ...openedUdp], token, durationMs, disconnected)
    return { tcp: openedTcp.map(({ port }) => port), udp: openedUdp.map(({ port }) => port) }
  }

  /** Closes the ports that were opened with this token. Resolves when they are free again. */
  async stopListening(token: string): Promise<void> {
    if (this.#open?.token === token) await this.#open.close()
  }

  #keepOpen(ports: readonly OpenPort[], token: string, durationMs: number, disconnected: AbortSignal): void {
    let closing: Promise<void> | undefined
    const close = async (): Promise<void> => {
      clearTimeout(timer)
      disconnected.removeEventListener('abort', closeNow)
      await Promise.all(ports.map(async (port) => port.close()))
      this.#open = undefined
      this.#busy = false
    }
    const closeOnce = async (): Promise<void> => {
      closing ??= close()
      await closing
    }
    const closeNow = (): void => void closeOnce()
    const timer = setTimeout(closeNow, durationMs)
    disconnected.addEventListener('abort', closeNow, { once: true })
    this.#open = { token, close: closeOnce }
    if (disconnected.aborted) closeNow()
  }
}

async function openAll(
  ports: readonly number[],
  open: (port: number) => Promise<OpenPort | undefined>,
): Promise<OpenPort[]> {
  const opened = await Promise.all(ports.map(open))
  return opened.filter((port) => port !== undefined)
}
