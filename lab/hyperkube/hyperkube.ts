import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { buildExecutable, ownTarget } from '../../scripts/executable.ts'
import { type CommandResult, run } from '../../src/kit/command.ts'
import { exists } from '../../src/kit/files.ts'
import { until } from '../../src/kit/until.ts'
import { type Access, attempt, type Contender, type Ground } from '../cluster/contender.ts'
import { clusterDocument } from './cluster-document.ts'

/** What a person does with the shipped executable. Before the clock starts they have their files, as others have keys. */
export const hyperkube: Contender = {
  name: 'hyperkube',
  async prepare(ground) {
    const directory = workOf(ground)
    // The hosts of a former run had the same addresses and other keys.
    await rm(directory, { recursive: true, force: true })
    await mkdir(directory, { recursive: true })
    if (!(await exists(programOf(ground)))) await buildExecutable(ownTarget(), ground.directory)
    const { controlPlanes, workers } = ground.cast
    const kubernetes = ground.versions.kubernetes.replace(/^v/, '')
    const document = clusterDocument(kubernetes, ground.mirror, [...controlPlanes, ...workers])
    await writeFile(join(directory, 'cluster.yml'), stringify(document))
    await type(ground, 'init')
    await type(ground, 'lock')
  },
  begin: (ground, signal) =>
    attempt(async (known) => {
      const up = type(ground, 'up', '--yes')
      known(await Promise.race([accessTo(ground, signal), up.then(async () => accessTo(ground, signal))]))
      await up
    }),
}

function workOf({ directory, cast }: Ground): string {
  // Another set of hosts is another cluster.
  return join(directory, 'hyperkube', cast.controlPlanes.map(({ address }) => address).join('-'))
}

function programOf({ directory }: Ground): string {
  return join(directory, `hyperkube-${ownTarget()}`)
}

async function type(ground: Ground, ...words: readonly string[]): Promise<CommandResult> {
  const work = workOf(ground)
  return run([programOf(ground), ...words, '-f', join(work, 'cluster.yml')], {
    env: { XDG_CONFIG_HOME: work, XDG_STATE_HOME: work, HOME: work },
  })
}

const config = z.object({
  clusters: z.array(z.object({ cluster: z.object({ 'certificate-authority-data': z.base64() }) })).min(1),
  users: z
    .array(
      z.object({ user: z.object({ 'client-certificate-data': z.base64(), 'client-key-data': z.base64() }) }),
    )
    .min(1),
})

/** To the API as the product gives it to people; to etcd as it lies on a host for them. */
async function accessTo(ground: Ground, signal: AbortSignal): Promise<Access> {
  const { stdout } = await type(ground, 'kubeconfig', '--break-glass', '--for', '1h')
  const { clusters, users } = config.parse(parse(stdout))
  const [cluster, user] = [clusters[0]?.cluster, users[0]?.user]
  const text = (data: string | undefined): string => Buffer.from(data ?? '', 'base64').toString('utf8')
  const [first] = ground.cast.controlPlanes
  const read = async (name: string): Promise<string> =>
    until(
      `${name} of etcd`,
      async () => {
        const result = await first?.exec(['cat', `/etc/hyperkube/etcd/${name}`], { allowFailure: true })
        return result?.code === 0 && result.stdout
      },
      { within: 300_000, signal },
    )
  return {
    api: {
      authority: text(cluster?.['certificate-authority-data']),
      certificate: text(user?.['client-certificate-data']),
      key: text(user?.['client-key-data']),
    },
    etcd: {
      authority: await read('ca.crt'),
      certificate: await read('client.crt'),
      key: await read('client.key'),
    },
  }
}
