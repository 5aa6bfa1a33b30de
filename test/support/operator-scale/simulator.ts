import { connect } from 'node:net'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { compareStages } from '../../../src/contract/component-plan.ts'
import type { Identity } from '../../../src/identity/identity.ts'
import { privateFiles } from '../../../src/identity/private-files.ts'
import { readIdentity, readKeyFile } from '../../../src/identity/store.ts'
import { makeRequest } from '../../../src/pki/request.ts'
import { signRequest } from '../../../src/pki/sign.ts'
import { buildPlanInput, parseTestCluster } from '../../../src/plan/testing/fixtures.ts'
import { serveHttps, type ServerKeyPair } from './serve-https.ts'
import { SimulatedAgent, simulatedVersion } from './simulated-agent.ts'
import { buildReadyNode, SimulatedApi } from './simulated-api.ts'
import { respondAsEtcd } from './simulated-etcd.ts'

/** Message that the simulator process sends to its parent process. */
export interface SimulatorReport {
  readonly port: number
}

/**
 * Simulates all hosts of a cluster behind one ssh server in a process of its own. The login name of a
 * connection is the name of the host. `directory` contains cluster.yml, the identity and its key.
 */
async function simulate(directory: string, hostKeyFile: string, port: number): Promise<void> {
  const cluster = parseTestCluster(await readFile(join(directory, 'cluster.yml'), 'utf8'))
  const key = await readKeyFile(privateFiles(), join(directory, 'hyperkube/keys/scale.key'))
  const identity = await readIdentity(privateFiles(), join(directory, 'cluster.identity'), key)
  const controlPlanes = cluster.spec.hosts.filter(({ roles }) => roles.includes('control-plane'))
  const addresses = controlPlanes.map(({ internalAddress = '' }) => internalAddress)
  const api = new SimulatedApi()
  const apiPort = await serveHttps(await issueServer(identity, 'kubernetes', addresses), api.respond)
  const etcdPort = await serveHttps(await issueServer(identity, 'etcd', addresses), (request) =>
    respondAsEtcd(addresses, request),
  )
  const started = new Set<'etcd' | 'api'>()
  const agents = new Map(
    [...buildPlanInput(cluster).facts].map(([name, facts]) => [
      name,
      new SimulatedAgent({
        facts,
        onApplied(plan, through) {
          if (plan.roles.includes('control-plane') && compareStages(through, 'etcd') >= 0) started.add('etcd')
          if (plan.roles.includes('control-plane') && compareStages(through, 'api') >= 0) started.add('api')
          if (plan.node !== undefined && compareStages(through, 'node') >= 0)
            api.put(
              `/api/v1/nodes/${plan.node.name}`,
              buildReadyNode(plan.node.name, plan.address, cluster.spec.kubernetes),
            )
        },
      }),
    ]),
  )
  const findServer = (destination: number): number | undefined => {
    if (destination === 2379) return started.has('etcd') ? etcdPort : undefined
    return started.has('api') ? apiPort : undefined
  }
  const server = new ssh2.Server({ hostKeys: [await readFile(hostKeyFile)] }, (client) => {
    let agent: SimulatedAgent | undefined
    client.on('error', () => undefined)
    client.on('authentication', (context) => {
      agent = agents.get(context.username)
      if (context.method === 'publickey' && agent !== undefined) context.accept()
      else context.reject(['publickey'])
    })
    client.on('session', (accept) => {
      accept().on('exec', (take, _reject, { command }) => runCommand(command, take(), agent))
    })
    client.on('tcpip', (accept, reject, { destPort }) => {
      const serverPort = findServer(destPort)
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
  server.listen(port, '0.0.0.0', () => {
    const address = server.address()
    const report: SimulatorReport = { port: typeof address === 'object' ? (address?.port ?? 0) : 0 }
    process.send?.(report)
  })
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

const [directory = '', hostKeyFile = '', port = '0'] = process.argv.slice(2)
process.on('disconnect', () => process.exit())
await simulate(directory, hostKeyFile, Number(port))
