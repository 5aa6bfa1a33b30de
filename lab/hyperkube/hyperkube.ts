import { parse } from 'yaml'
import { z } from 'zod'
import { until } from '../../src/kit/poll-until.ts'
import { type Access, attempt, type Contender, type Ground } from '../cluster/contender.ts'
import { deskOf, layDesk } from './workspace.ts'

const name = 'hyperkube'

/** What a person does with the shipped executable. Before the clock starts they have their files, as others have keys. */
export const hyperkube: Contender = {
  name,
  addons: true,
  async prepare(ground) {
    const desk = deskOf(ground, name)
    await layDesk(ground, desk)
    await desk.type('init')
  },
  begin: (ground, signal) =>
    attempt(async (known) => {
      const up = deskOf(ground, name, signal).type('up', '--yes')
      known(await Promise.race([accessTo(ground, signal), up.then(async () => accessTo(ground, signal))]))
      await up
    }),
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
  const { stdout } = await deskOf(ground, name, signal).type('kubeconfig', '--break-glass', '--for', '1h')
  const { clusters, users } = config.parse(parse(stdout))
  const [cluster, user] = [clusters[0]?.cluster, users[0]?.user]
  const text = (data: string | undefined): string => Buffer.from(data ?? '', 'base64').toString('utf8')
  const [first] = ground.cast.controlPlanes
  const read = async (file: string): Promise<string> =>
    until(
      `${file} of etcd`,
      async () => {
        const result = await first?.exec(['cat', `/etc/hyperkube/etcd/${file}`], { allowFailure: true })
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
