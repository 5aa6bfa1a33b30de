import { connect, createServer } from 'node:net'
import ssh2 from 'ssh2'
import { compareStages } from '../../../src/contract/component-plan.ts'
import type { Identity } from '../../../src/identity/identity.ts'
import { makeRequest } from '../../../src/pki/request.ts'
import { signRequest } from '../../../src/pki/sign.ts'
import { buildPlanInput, parseTestCluster } from '../../../src/plan/testing/fixtures.ts'
import { serveHttps, type ServerKeyPair } from './serve-https.ts'
import { SimulatedAgent, type SimulatedAgentOptions, simulatedVersion } from './simulated-agent.ts'
import { buildReadyNode, SimulatedApi } from './simulated-api.ts'
import { respondAsEtcd } from './simulated-etcd.ts'

/** Hosts, API server and etcd of a cluster that exists only in memory. */
export interface SimulatedCluster {
  /** Agents by the name of their host. */
  readonly agents: ReadonlyMap<string, SimulatedAgent>
  /** Returns the local port of the API server or etcd behind a port of a host, once it runs. */
  readonly findServer: (port: number) => number | undefined
}

export interface SimulatedClusterOptions extends Pick<SimulatedAgentOptions, 'isBroken'> {
  /** True if API server, etcd and nodes run from the start. */
  readonly isRunning?: boolean
}

export async function simulateCluster(
  text: string,
  identity: Identity,
  { isBroken = () => false, isRunning = false }: SimulatedClusterOptions = {},
): Promise<SimulatedCluster> {
  const cluster = parseTestCluster(text)
  const controlPlanes = cluster.spec.hosts.filter(({ roles }) => roles.includes('control-plane'))
  const addresses = controlPlanes.map(({ internalAddress = '' }) => internalAddress)
  const api = new SimulatedApi()
  const apiPort = await serveHttps(await issueServer(identity, 'kubernetes', addresses), api.respond)
  const etcdPort = await serveHttps(await issueServer(identity, 'etcd', addresses), (request) =>
    respondAsEtcd(addresses, request),
  )
  const putNode = (name: string, address: string): void =>
    api.put(`/api/v1/nodes/${name}`, buildReadyNode(name, address, cluster.spec.kubernetes))
  const started = new Set<'etcd' | 'api'>(isRunning ? ['etcd', 'api'] : [])
  if (isRunning)
    for (const { name, internalAddress = '' } of cluster.spec.hosts) putNode(name, internalAddress)
  const agents = new Map(
    [...buildPlanInput(cluster).facts].map(([name, facts]) => [
      name,
      new SimulatedAgent({
        facts,
        isBroken,
        onApplied(plan, through) {
          if (plan.roles.includes('control-plane') && compareStages(through, 'etcd') >= 0) started.add('etcd')
          if (plan.roles.includes('control-plane') && compareStages(through, 'api') >= 0) started.add('api')
          if (plan.node !== undefined && compareStages(through, 'node') >= 0)
            putNode(plan.node.name, plan.address)
        },
      }),
    ]),
  )
  return {
    agents,
    findServer(port) {
      if (port === 2379) return started.has('etcd') ? etcdPort : undefined
      return started.has('api') ? apiPort : undefined
    },
  }
}

/** A host that a login name selects. */
export interface SimulatedLogin extends Pick<SimulatedCluster, 'findServer'> {
  readonly agent: SimulatedAgent
}

/** Serves ssh for all hosts on one port. Calls `onListening` when connections are accepted. */
export function serveSsh(
  hostKey: Buffer,
  port: number,
  findLogin: (user: string) => SimulatedLogin | undefined,
  onListening: () => void,
): void {
  const server = new ssh2.Server({ hostKeys: [hostKey] }, (client) => {
    let login: SimulatedLogin | undefined
    client.on('error', () => undefined)
    client.on('authentication', (context) => {
      login = findLogin(context.username)
      if (context.method === 'publickey' && login !== undefined) context.accept()
      else context.reject(['publickey'])
    })
    client.on('session', (accept) => {
      accept().on('exec', (take, _reject, { command }) => runCommand(command, take(), login?.agent))
    })
    client.on('tcpip', (accept, reject, { destPort }) => {
      const serverPort = login?.findServer(destPort)
      if (serverPort === undefined) {
        reject()
        return
      }
      const channel = accept()
      const socket = connect(serverPort, '127.0.0.1')
      socket.on('error', () => channel.destroy())
      channel.on('error', () => socket.destroy())
      channel.on('close', () => socket.destroy())
      channel.pipe(socket).pipe(channel)
    })
  })
  // The library writes a packet in three parts. Without noDelay, the second part of a response waits 40 ms for
  // the acknowledgement of the first. sshd writes a packet at once.
  const listener = createServer({ noDelay: true }, (socket) => server.injectSocket(socket))
  listener.listen(port, '0.0.0.0', onListening)
}

/** Simulates the few commands that an operator runs over ssh on a host whose agent is installed. */
function runCommand(command: string, channel: ssh2.ServerChannel, agent: SimulatedAgent | undefined): void {
  const finish = (output: string): void => {
    channel.write(output)
    channel.exit(0)
    channel.end()
  }
  channel.on('error', () => undefined)
  if (command.includes('hyperkube permissions')) finish('hyperkube permissions: root\n')
  else if (command.includes('uname -m'))
    finish(`x86_64\n/usr/local/lib/hyperkube/hyperkube-${simulatedVersion}\nactive\n\n`)
  else if (command.includes('systemctl show')) finish(formatUnits(command))
  else if (command.includes('agent-call') && agent !== undefined)
    agent.serve(channel).catch((error: unknown) => {
      process.stderr.write(`simulator: ${String(error)}\n`)
      channel.close()
    })
  else {
    process.stderr.write(`simulator: unknown command ${command}\n`)
    channel.exit(127)
    channel.end()
  }
}

/** Formats the state of the requested units: all of them are active. */
function formatUnits(command: string): string {
  const names = command.match(/[\w-]+\.service/g) ?? []
  const blocks = names.map(
    (name) => `Id=${name}\nLoadState=loaded\nActiveState=active\nNRestarts=0\nUnitFileState=enabled\n`,
  )
  return `/usr/local/lib/hyperkube/hyperkube-${simulatedVersion}\n${blocks.join('\n')}`
}

const subject = { commonName: 'simulated', organizations: [] }

/** Issues one server certificate that is valid for the addresses of all control planes. */
async function issueServer(
  { cas }: Identity,
  ca: 'kubernetes' | 'etcd',
  addresses: readonly string[],
): Promise<ServerKeyPair> {
  const names = { dns: ['localhost'], ip: ['127.0.0.1', ...addresses] }
  const { request, privateKey } = await makeRequest('server', subject, names)
  const spec = { subject, names, usages: ['server'] as const, lifetime: 86_400_000 }
  const certificate = await signRequest(cas[ca], request, spec, new Date())
  return { certificate, privateKey: privateKey.revealText() }
}
