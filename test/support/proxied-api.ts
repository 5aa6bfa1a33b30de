import { z } from 'zod'
import type { Credentials } from '../../lab/cluster/kube-api.ts'
import { sendFiles } from '../../lab/cluster/send-files.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { ApiLoad, type Load, type LoadFigures } from './api-load.ts'

const directory = 'etc/apiserver-proxy'
const stateFile = '/var/lib/apiserver-proxy/servers.json'
const unit = 'apiserver-proxy'

const stateSchema = z.looseObject({ servers: z.array(z.string()) })
const statusSchema = z.looseObject({
  servers: z.array(z.looseObject({ server: z.string(), health: z.string() })),
})
type Status = z.infer<typeof statusSchema>

/**
 * Figures of the load through the proxy, and of a control load that goes directly to a server without a
 * fault.
 */
export interface ProxyLoadResult {
  readonly figures: LoadFigures
  readonly control: LoadFigures
}

/** API servers of a lab behind a proxy on `node`, on which hyperkube is already installed. */
export class ProxiedApi {
  readonly node: Host
  readonly servers: readonly Host[]
  readonly credentials: Credentials
  readonly #listenAddress: string

  /** By default the proxy listens on the node's address, which the test machine can reach. */
  constructor(node: Host, servers: readonly Host[], credentials: Credentials, listenAddress = node.address) {
    this.node = node
    this.servers = servers
    this.credentials = credentials
    this.#listenAddress = listenAddress
  }

  /** Starts the proxy as a host of a cluster does, but with an administrator's certificate. */
  async start(configured: readonly string[] = this.servers.map(formatServer)): Promise<void> {
    const { address } = this.node
    const config = {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'ApiserverProxyConfiguration',
      listen: `${this.#listenAddress}:6444`,
      health: `${address}:6445`,
      servers: configured,
      caFile: `/${directory}/ca.crt`,
      credentials: { certificate: `/${directory}/client.crt`, privateKey: `/${directory}/client.key` },
      stateFile,
    }
    await sendFiles(this.node, {
      [`${directory}/config.json`]: JSON.stringify(config),
      [`${directory}/ca.crt`]: this.credentials.ca,
      [`${directory}/client.crt`]: this.credentials.certificate,
      [`${directory}/client.key`]: this.credentials.key,
    })
    await this.node.script(`mkdir -p /var/lib/apiserver-proxy
      systemd-run --quiet --unit=${unit} --property=LimitNOFILE=65536 --property=RemainAfterExit=yes \\
        /usr/local/bin/hyperkube apiserver-proxy --config=/${directory}/config.json`)
  }

  async stop(): Promise<void> {
    await this.node.exec(['systemctl', 'stop', unit])
  }

  /** Reads the log of the proxy. */
  async readJournal(): Promise<string> {
    const argv = ['journalctl', `--unit=${unit}`, '--output=short-iso-precise', '--no-hostname'] as const
    return (await this.node.exec([...argv])).stdout
  }

  async readPid(): Promise<number> {
    return Number((await this.node.exec(['systemctl', 'show', '-P', 'MainPID', unit])).stdout)
  }

  /** Reads the servers that the proxy stored on disk. */
  async readStoredServers(): Promise<string[]> {
    const { stdout } = await this.node.exec(['cat', stateFile])
    return stateSchema.parse(JSON.parse(stdout)).servers
  }

  async readStatus(): Promise<Status> {
    const response = await fetch(`http://${this.node.address}:6445/healthz`)
    return statusSchema.parse(await response.json())
  }

  /** Waits until the proxy reports this health of a server. */
  async waitForHealth(host: Host, expected: string): Promise<void> {
    const hasHealth = async (): Promise<boolean> =>
      (await this.readStatus()).servers.some(
        ({ server, health }) => server === formatServer(host) && health === expected,
      )
    await pollUntil(`${host.name} to be ${expected}`, hasHealth, { timeoutMs: 90_000, intervalMs: 100 })
  }

  async waitForAllHealthy(): Promise<void> {
    for (const host of this.servers) await this.waitForHealth(host, 'healthy')
  }

  /** Runs load before, during and after a fault of a server. */
  async runUnderLoad(
    title: string,
    perSecond: number,
    host: Host,
    fault: (load: Load) => Promise<void>,
  ): Promise<ProxyLoadResult> {
    await this.waitForAllHealthy()
    const { credentials } = this
    const controlAddress = this.servers.find((one) => one !== host)?.address ?? ''
    const load = new ApiLoad({ host: this.node.address, port: 6444, credentials }, perSecond)
    const control = new ApiLoad({ host: controlAddress, port: 6443, credentials }, perSecond / 10)
    load.start()
    control.start()
    const stop = async (): Promise<ProxyLoadResult> => {
      const [figures, direct] = await Promise.all([load.stop(), control.stop()])
      process.stderr.write(`${title}: ${JSON.stringify(figures)}\n`)
      process.stderr.write(`  directly: median ${direct.median} ms, worst ${direct.worst} ms\n`)
      return { figures, control: direct }
    }
    try {
      await waitForRequests(load, 2 * perSecond)
      await fault(load)
      await this.waitForAllHealthy()
      await waitForRequests(load, 2 * perSecond)
    } catch (error) {
      await stop()
      throw error
    }
    return stop()
  }
}

export function formatServer({ address }: Host): string {
  return `${address}:6443`
}

/** Waits until the load has received this many more responses. */
export async function waitForRequests(load: Load, requests: number): Promise<void> {
  const target = load.requests + requests
  await pollUntil('more responses', async () => load.requests >= target, {
    timeoutMs: 60_000,
    intervalMs: 50,
  })
}

/** Sends a signal to the API server of a host. */
export async function signalApiServer(host: Host, name: string): Promise<void> {
  await host.exec(['systemctl', 'kill', `--signal=${name}`, 'kube-apiserver'])
}

/**
 * Lists effects that clients must not see when one of three servers fails: failed or very slow requests. The
 * limit includes the slowest request of the control load, which shows delays of the machine that runs the
 * tests.
 */
export function findOutages({ figures: { failed, worst, watchGap }, control }: ProxyLoadResult): string[] {
  const maxMs = 2000 + control.worst
  return [
    ...failed,
    ...(worst < maxMs ? [] : [`a request took ${worst} ms`]),
    ...(watchGap < maxMs ? [] : [`a watch saw nothing for ${watchGap} ms`]),
  ]
}
