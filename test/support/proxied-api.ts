import { z } from 'zod'
import type { Credentials } from '../../lab/cluster/kube-api.ts'
import { sendFiles } from '../../lab/cluster/send-files.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { until } from '../../src/kit/poll-until.ts'
import { ApiLoad, type Load, type LoadFigures } from './api-load.ts'

const directory = 'etc/apiserver-proxy'
const memory = '/var/lib/apiserver-proxy/servers.json'
const unit = 'apiserver-proxy'

const memorySchema = z.looseObject({ servers: z.array(z.string()) })
const statusSchema = z.looseObject({
  servers: z.array(z.looseObject({ server: z.string(), health: z.string() })),
})
type Status = z.infer<typeof statusSchema>

/** What clients have seen through the proxy, and at the same time others who asked a server that was left in peace. */
export interface Seen {
  readonly figures: LoadFigures
  readonly control: LoadFigures
}

/** API servers of a lab, asked through a proxy on one of its hosts; that host has the program already. */
export class ProxiedApi {
  readonly node: Host
  readonly servers: readonly Host[]
  readonly credentials: Credentials
  readonly #at: string

  /** It listens at the node's own address, where this machine reaches it, or at another one of the node. */
  constructor(node: Host, servers: readonly Host[], credentials: Credentials, at = node.address) {
    this.node = node
    this.servers = servers
    this.credentials = credentials
    this.#at = at
  }

  /** As the plan does, but with an administrator's certificate. */
  async start(configured: readonly string[] = this.servers.map(serverOf)): Promise<void> {
    const { address } = this.node
    const config = {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'ApiserverProxyConfiguration',
      listen: `${this.#at}:6444`,
      health: `${address}:6445`,
      servers: configured,
      authority: `/${directory}/ca.crt`,
      credentials: { certificate: `/${directory}/client.crt`, privateKey: `/${directory}/client.key` },
      memory,
    }
    await sendFiles(this.node, {
      [`${directory}/config.json`]: JSON.stringify(config),
      [`${directory}/ca.crt`]: this.credentials.authority,
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

  /** What it has said. */
  async journal(): Promise<string> {
    const argv = ['journalctl', `--unit=${unit}`, '--output=short-iso-precise', '--no-hostname'] as const
    return (await this.node.exec([...argv])).stdout
  }

  async pid(): Promise<number> {
    return Number((await this.node.exec(['systemctl', 'show', '-P', 'MainPID', unit])).stdout)
  }

  /** The servers that it keeps on disk. */
  async kept(): Promise<string[]> {
    const { stdout } = await this.node.exec(['cat', memory])
    return memorySchema.parse(JSON.parse(stdout)).servers
  }

  async status(): Promise<Status> {
    const answer = await fetch(`http://${this.node.address}:6445/healthz`)
    return statusSchema.parse(await answer.json())
  }

  /** Waits until the proxy thinks so of a server. */
  async health(host: Host, wanted: string): Promise<void> {
    const seen = async (): Promise<boolean> =>
      (await this.status()).servers.some(
        ({ server, health }) => server === serverOf(host) && health === wanted,
      )
    await until(`${host.name} to be ${wanted}`, seen, { within: 90_000, every: 100 })
  }

  async allWell(): Promise<void> {
    for (const host of this.servers) await this.health(host, 'well')
  }

  /** Load before, during and after something happens to a server. */
  async under(
    title: string,
    perSecond: number,
    host: Host,
    fault: (load: Load) => Promise<void>,
  ): Promise<Seen> {
    await this.allWell()
    const { credentials } = this
    const peaceful = this.servers.find((one) => one !== host)?.address ?? ''
    const load = new ApiLoad({ host: this.node.address, port: 6444, credentials }, perSecond)
    const control = new ApiLoad({ host: peaceful, port: 6443, credentials }, perSecond / 10)
    load.start()
    control.start()
    const stop = async (): Promise<Seen> => {
      const [figures, direct] = await Promise.all([load.stop(), control.stop()])
      process.stderr.write(`${title}: ${JSON.stringify(figures)}\n`)
      process.stderr.write(`  directly: median ${direct.median} ms, worst ${direct.worst} ms\n`)
      return { figures, control: direct }
    }
    try {
      await more(load, 2 * perSecond)
      await fault(load)
      await this.allWell()
      await more(load, 2 * perSecond)
    } catch (error) {
      await stop()
      throw error
    }
    return stop()
  }
}

export function serverOf({ address }: Host): string {
  return `${address}:6443`
}

/** Waits for so many more answers. */
export async function more(load: Load, requests: number): Promise<void> {
  const enough = load.requests + requests
  await until('answers', async () => load.requests >= enough, { within: 60_000, every: 50 })
}

/** Sends its API server a signal. */
export async function signal(host: Host, name: string): Promise<void> {
  await host.exec(['systemctl', 'kill', `--signal=${name}`, 'kube-apiserver'])
}

/**
 * What no client should see, whatever happens to one of three servers: requests that are lost, or wait for long. What
 * those took who asked directly, the machine and its disk took, and not the proxy.
 */
export function outage({ figures: { failed, worst, watchGap }, control }: Seen): string[] {
  const most = 2000 + control.worst
  return [
    ...failed,
    ...(worst < most ? [] : [`a request took ${worst} ms`]),
    ...(watchGap < most ? [] : [`a watch saw nothing for ${watchGap} ms`]),
  ]
}
