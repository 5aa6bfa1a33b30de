import { createServer, type Server, type Socket } from 'node:net'
import { findFreePort } from '../../kit/free-port.ts'
import { pollUntil } from '../../kit/poll.ts'
import { parseHostPort } from '../../kit/host-port.ts'
import { ApiserverProxy } from '../proxy.ts'
import type { ProxySettings } from '../run.ts'
import type { ProxyTiming } from '../timing.ts'
import { FakeUpstream } from './fake-upstream.ts'
import type { OpensslTestCa } from './openssl-test-ca.ts'
import { ProxyTestClient } from './proxy-test-client.ts'

/**
 * Timing with intervals about ten times shorter than the defaults. The timeouts are long, because other
 * processes may slow down the tests.
 */
export const fastTiming: ProxyTiming = {
  tick: 10,
  probeInterval: 100,
  probeTimeout: 3000,
  maxProbeTimeout: 3000,
  urgentProbeInterval: 50,
  urgentProbeTimeout: 3000,
  settleTime: 300,
  idleAfter: 60,
  drainSpread: 100,
  unreadyGrace: 30_000,
  restartTime: 60_000,
  dialTimeout: 3000,
  slowAfter: 100,
  discoveryInterval: 100,
  reloadInterval: 50,
  stopTimeout: 30_000,
  stopIdleAfter: 60,
}

/** Starts API servers, proxies and clients on local ports for a test and closes all of them at its end. */
export class ProxyTestBed {
  readonly logged: string[] = []
  readonly deps = {
    timing: fastTiming,
    random: () => 0,
    log: (line: string): void => void this.logged.push(line),
  }
  readonly #ca: OpensslTestCa
  readonly #clients: ProxyTestClient[] = []
  readonly #closers: (() => Promise<unknown>)[] = []

  constructor(ca: OpensslTestCa) {
    this.#ca = ca
  }

  async close(): Promise<void> {
    for (const close of this.#closers.toReversed()) await close()
  }

  onClose(close: () => Promise<unknown>): void {
    this.#closers.push(close)
  }

  /** Starts an API server. `name` is the address to listen on; `ca` may be the CA of another cluster. */
  async apiServer(name?: string, ca = this.#ca): Promise<FakeUpstream> {
    const server = await FakeUpstream.start(ca, name)
    this.onClose(async () => server.close())
    return server
  }

  /** Starts a server without TLS and returns its address. */
  async plainServer(take: (socket: Socket) => void): Promise<string> {
    const open = new Set<Socket>()
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      open.add(socket)
      socket.on('error', () => socket.destroy())
      take(socket)
    })
    const name = await listenLocally(server)
    this.onClose(async () => {
      for (const socket of open) socket.destroy()
      await closeServer(server)
    })
    return name
  }

  settings(servers: readonly string[], more: Partial<ProxySettings['configuration']> = {}): ProxySettings {
    return {
      configuration: {
        apiVersion: 'hyperkube.dev/v1',
        kind: 'ApiserverProxyConfiguration',
        listen: '127.0.0.1:0',
        health: '127.0.0.1:0',
        servers,
        caFile: 'ca.crt',
        credentials: { certificate: 'client.crt', privateKey: 'client.key' },
        stateFile: 'servers.json',
        ...more,
      },
      caCertificate: this.#ca.certificate,
      credentials: this.#ca.client,
    }
  }

  async proxy(settings: ProxySettings, timing: Partial<ProxyTiming> = {}): Promise<ApiserverProxy> {
    const proxy = new ApiserverProxy(settings, [], { ...this.deps, timing: { ...fastTiming, ...timing } })
    await proxy.start()
    this.onClose(async () => {
      // Clients are closed first, because requests that a test left in flight would delay the stop.
      for (const client of this.#clients) client.close()
      await proxy.stop()
    })
    return proxy
  }

  /** Creates a client. With `reuse` it keeps one connection; otherwise it opens a connection per request. */
  client(port: number | undefined, reuse = false): ProxyTestClient {
    const client = new ProxyTestClient(this.#ca, port ?? 0, reuse)
    this.#clients.push(client)
    return client
  }
}

/** Waits until the proxy reports the expected health of each server. */
export async function waitForHealth(
  proxy: ApiserverProxy,
  expected: Readonly<Record<string, string>>,
): Promise<void> {
  const isReached = async (): Promise<boolean> => {
    const now = new Map(proxy.status().servers.map((one) => [one.server, one.health as string]))
    return Object.entries(expected).every(([server, wanted]) => now.get(server) === wanted)
  }
  await pollUntil(`health ${JSON.stringify(expected)}`, isReached, { timeoutMs: 20_000, intervalMs: 5 })
}

/** Returns a local address with a free port. */
export async function findFreeAddress(): Promise<string> {
  return `127.0.0.1:${await findFreePort()}`
}

async function listenLocally(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(parseHostPort('127.0.0.1:0'), resolve))
  const address = server.address()
  return `127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`
}

async function closeServer(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve))
}
