import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { privateFiles } from '../../../src/identity/private-files.ts'
import { readIdentity, readKeyFile } from '../../../src/identity/store.ts'
import { serveSsh, simulateCluster } from './simulated-cluster.ts'

/** Message that the simulator process sends to its parent process. */
export interface SimulatorReport {
  readonly port: number
}

/**
 * Simulates all hosts of a cluster behind one ssh server in a process of its own. The login name of a
 * connection is the name of the host. `directory` contains cluster.yml, the identity and its key.
 */
async function simulate(directory: string, hostKeyFile: string, port: number): Promise<void> {
  const key = await readKeyFile(privateFiles(), join(directory, 'hyperkube/keys/scale.key'))
  const identity = await readIdentity(privateFiles(), join(directory, 'cluster.identity'), key)
  const { agents, findServer } = await simulateCluster(
    await readFile(join(directory, 'cluster.yml'), 'utf8'),
    identity,
  )
  const findLogin = (user: string) => {
    const agent = agents.get(user)
    return agent === undefined ? undefined : { agent, findServer }
  }
  const report: SimulatorReport = { port }
  serveSsh(await readFile(hostKeyFile), port, findLogin, () => process.send?.(report))
}

const [directory = '', hostKeyFile = '', port = '0'] = process.argv.slice(2)
process.on('disconnect', () => process.exit())
await simulate(directory, hostKeyFile, Number(port))
