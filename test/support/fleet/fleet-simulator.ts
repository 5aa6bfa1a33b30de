import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { privateFiles } from '../../../src/identity/private-files.ts'
import { readIdentity, readKeyFile } from '../../../src/identity/store.ts'
import { serveSsh, type SimulatedLogin, simulateCluster } from '../operator-scale/simulated-cluster.ts'

/**
 * Simulates all clusters of a fleet, each with one host, behind one ssh server in a process of its own. The
 * login name of a connection is the name of the cluster. A file `broken/NAME` makes a cluster fail.
 */
async function simulate(directory: string, hostKeyFile: string, port: number): Promise<void> {
  const logins = new Map<string, SimulatedLogin>()
  for (const name of await readdir(join(directory, 'clusters'))) {
    const own = join(directory, 'clusters', name)
    const key = await readKeyFile(privateFiles(), join(directory, `hyperkube/keys/${name}.key`))
    const cluster = await simulateCluster(
      await readFile(join(own, 'cluster.yml'), 'utf8'),
      await readIdentity(privateFiles(), join(own, 'cluster.identity'), key),
      { isRunning: true, isBroken: () => existsSync(join(directory, 'broken', name)) },
    )
    const [agent] = cluster.agents.values()
    if (agent !== undefined) logins.set(name, { agent, findServer: cluster.findServer })
  }
  serveSsh(
    await readFile(hostKeyFile),
    port,
    (user) => logins.get(user),
    () => process.send?.({ port }),
  )
}

const [directory = '', hostKeyFile = '', port = '0'] = process.argv.slice(2)
process.on('disconnect', () => process.exit())
await simulate(directory, hostKeyFile, Number(port))
