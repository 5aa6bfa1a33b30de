import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { z } from 'zod'
import type { Host } from '../../lab/hosts/host.ts'
import { type NodePlan, nodePlanFormat } from '../../src/contract/node-plan.ts'
import type { Identity } from '../../src/identity/identity.ts'
import { privateFiles } from '../../src/identity/private-files.ts'
import { readIdentity, readKeyFile } from '../../src/identity/store.ts'
import { type CommandResult, runProgram } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { installProgram, readFacts } from './program.ts'

const root = join(import.meta.dirname, '../..')
const planDocument = z.looseObject({ plans: z.array(nodePlanFormat.newest.schema) })

export interface PlannedCluster {
  readonly plans: readonly NodePlan[]
  readonly identity: Identity
}

/** Runs init, lock and plan, as an operator does before `up`. */
export async function planCluster(
  kubernetes: string,
  mirror: string,
  hosts: readonly HostWithRoles[],
): Promise<PlannedCluster> {
  const directory = await mkdtemp(join(tmpdir(), 'planned-'))
  try {
    return await planInDirectory(directory, kubernetes, mirror, hosts)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

export interface HostWithRoles {
  readonly host: Host
  readonly roles: readonly string[]
}

/** Like `planCluster`, but keeps cluster.yml and its companion files in `directory`. */
export async function planInDirectory(
  directory: string,
  kubernetes: string,
  mirror: string,
  hosts: readonly HostWithRoles[],
): Promise<PlannedCluster> {
  const file = join(directory, 'cluster.yml')
  const hyperkube = async (...args: string[]): Promise<CommandResult> =>
    runProgram([process.execPath, join(root, 'src/main.ts'), ...args], {
      env: { XDG_CONFIG_HOME: directory, HYPERKUBE_FILE: file },
      allowFailure: true,
    })
  await writeFile(file, stringify(clusterDocument(kubernetes, mirror, hosts)))
  await expectCode(0, await hyperkube('init'))
  await expectCode(0, await hyperkube('lock'))
  await writeFacts(
    join(directory, 'facts'),
    hosts.map(({ host }) => host),
  )
  // Exit code 3 means that the plan has changes.
  const planned = await expectCode(
    3,
    await hyperkube('plan', '--facts', join(directory, 'facts'), '-o', 'json'),
  )
  const key = await readKeyFile(privateFiles(), join(directory, 'hyperkube/keys/lab.key'))
  return {
    plans: planDocument.parse(JSON.parse(planned.stdout)).plans,
    identity: await readIdentity(privateFiles(), join(directory, 'cluster.identity'), key),
  }
}

function clusterDocument(kubernetes: string, mirror: string, hosts: readonly HostWithRoles[]): object {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Cluster',
    metadata: { name: 'lab' },
    spec: {
      kubernetes,
      artifacts: { mirror, digests: 'mirror' },
      registries: [{ host: 'registry.k8s.io', mirrors: [mirror] }],
      dns: 'none',
      metrics: 'none',
      ingress: 'none',
      storage: 'none',
      hosts: hosts.map(({ host, roles }) => ({ name: host.name, address: host.address, roles })),
    },
  }
}

/** Records the facts of each host in a file, as an operator would. */
async function writeFacts(directory: string, hosts: readonly Host[]): Promise<void> {
  await installProgram(hosts)
  await mkdir(directory)
  await settleAll(
    hosts.map(async (host) =>
      writeFile(join(directory, `${host.name}.json`), JSON.stringify(await readFacts(host))),
    ),
  )
}

async function expectCode(code: number, result: CommandResult): Promise<CommandResult> {
  if (result.code !== code) throw new Error(`ended with ${result.code}: ${result.stdout}${result.stderr}`)
  return result
}
