import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { SimulatedWindows } from './simulator/simulated-windows.ts'
import { NodeApi } from './node-api.ts'
import { nodeObject, nodeStatus, podStatus } from './node-objects.ts'
import { baseDirectory } from './paths.ts'
import type { HostProgram } from './run-host.ts'

const nodeSchema = z.looseObject({ spec: z.looseObject({ podCIDR: z.string().optional() }).optional() })
const podListSchema = z.looseObject({
  items: z.array(
    z.looseObject({
      metadata: z.looseObject({
        name: z.string(),
        namespace: z.string(),
        deletionTimestamp: z.string().optional(),
      }),
      spec: z.looseObject({ containers: z.array(z.looseObject({ name: z.string(), image: z.string() })) }),
      status: z.looseObject({ phase: z.string().optional() }).optional(),
    }),
  ),
})

/**
 * Milliseconds between status updates, as in a real kubelet. A node stays Ready for 40 seconds after an
 * update.
 */
const statusIntervalMs = 10_000

/**
 * Simulates what a cluster sees of a kubelet while its service runs: a Ready Node and Running pods. It
 * authenticates with the certificate that the agent installed. Containers are not started.
 */
export class SimulatedKubelet implements HostProgram {
  readonly service = 'kubelet'
  readonly #windows: SimulatedWindows
  readonly #address: string
  #lastReportAt = 0
  #subnet: string | undefined

  constructor(windows: SimulatedWindows, address: string) {
    this.#windows = windows
    this.#address = address
  }

  /** Pod subnet of the host; undefined until the cluster has assigned one. */
  get subnet(): string | undefined {
    return this.#subnet
  }

  async syncProcess(processId: number): Promise<void> {
    if (processId === 0) return
    const isDue = Date.now() - this.#lastReportAt >= statusIntervalMs || this.#subnet === undefined
    const { name, version } = this.#identity()
    using api = await this.#api()
    if (isDue) {
      await api.ensure('/api/v1/nodes', nodeObject(name))
      await api.patch(`/api/v1/nodes/${name}/status`, nodeStatus({ address: this.#address, version }))
      await api.renewLease(name)
      const { spec } = nodeSchema.parse(await api.get(`/api/v1/nodes/${name}`))
      this.#setSubnet(spec?.podCIDR)
      this.#lastReportAt = Date.now()
    }
    await this.#runPods(api, name)
  }

  /**
   * Stores the pod subnet and passes it to the simulated flannel, which creates the pod network from this
   * subnet.
   */
  #setSubnet(podCIDR: string | undefined): void {
    this.#subnet = podCIDR
    if (podCIDR !== undefined) this.#windows.machine.cluster.subnet = podCIDR
  }

  async #runPods(api: NodeApi, name: string): Promise<void> {
    const { items } = podListSchema.parse(await api.get(`/api/v1/pods?fieldSelector=spec.nodeName%3D${name}`))
    for (const [index, { metadata, spec, status }] of items.entries()) {
      const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`
      if (metadata.deletionTimestamp !== undefined) await api.remove(path, { gracePeriodSeconds: 0 })
      else if (status?.phase !== 'Running')
        await api.patch(`${path}/status`, podStatus(this.#podAddress(index), this.#address, spec.containers))
    }
  }

  #podAddress(index: number): string {
    return (this.#subnet ?? '10.244.255.0/24').replace(/\.\d+\/\d+$/, `.${index + 10}`)
  }

  /** Reads node name and version from the command line of the service. */
  #identity(): { readonly name: string; readonly version: string } {
    const line = this.#windows.machine.services.get(this.service)?.commandLine ?? ''
    const name = /--hostname-override=([a-z0-9.-]+)/.exec(line)?.[1] ?? ''
    const version = /\\kubelet-([\d.]+)\\kubelet\.exe/.exec(line)?.[1] ?? '0.0.0'
    return { name, version: `v${version}` }
  }

  async #api(): Promise<NodeApi> {
    const read = async (name: string): Promise<string> =>
      readFile(this.#windows.toLocalPath(`${baseDirectory}\\settings\\${name}`), 'utf8')
    const { servers } = z
      .looseObject({ servers: z.array(z.string()).min(1) })
      .parse(JSON.parse(await read('apiserver-proxy\\config.json')))
    return new NodeApi(servers, {
      ca: await read('kubelet\\ca.crt'),
      certificate: await read('kubelet\\client.crt'),
      key: await read('kubelet\\client.key'),
    })
  }
}
