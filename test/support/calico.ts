import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildComponents } from '../../lab/components/build.ts'
import { selectParts } from '../../lab/components/parts.ts'
import { hashFile } from '../../src/kit/files.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { silentReport } from '../../lab/report.ts'
import type { Operator } from './operator.ts'

const example = join(import.meta.dirname, '../../examples/calico.yml')

const exampleSchema = z.object({
  spec: z.object({
    network: z.record(z.string(), z.string()),
    addons: z.tuple([
      z.looseObject({
        name: z.string(),
        urls: z.tuple([z.object({ url: z.string(), sha256: z.string() })]),
        inline: z.tuple([z.looseObject({ data: z.record(z.string(), z.string()) })]),
      }),
    ]),
  }),
})

/**
 * Creates on each host what machines have, and the containers of the lab do not: the file system of eBPF, and
 * a directory of kernel modules. Calico's pods mount both, and would keep what they create.
 */
export async function prepareCalicoHosts(hosts: readonly Pick<Host, 'script'>[]): Promise<void> {
  for (const host of hosts)
    await host.script('mkdir -p /lib/modules; mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf')
}

/**
 * Writes the network and the addon of examples/calico.yml into cluster.yml. The lab has no internet access,
 * so the addon gets upstream's manifest as a file, which must have the digest of the example.
 */
export async function useCalico({ directory, edit }: Pick<Operator, 'directory' | 'edit'>): Promise<void> {
  const { spec } = exampleSchema.parse(parse(await readFile(example, 'utf8')))
  const [{ urls, inline, ...addon }] = spec.addons
  const [{ sha256 }] = urls
  const [settings] = inline
  const [built] = await buildComponents(selectParts(['calico']), {
    cache: cacheDirectory(),
    report: silentReport,
  })
  const file = 'calico-vxlan.yaml'
  const manifest = join(built?.directory ?? '', file)
  if ((await hashFile(manifest)) !== sha256) throw new Error('the example has another digest of the manifest')
  await copyFile(manifest, join(directory, file))
  await edit((document) => {
    const mirror = String(document.getIn(['spec', 'artifacts', 'mirror']))
    document.addIn(['spec', 'registries'], { host: 'quay.io', mirrors: [mirror] })
    document.setIn(['spec', 'network'], spec.network)
    document.setIn(['spec', 'addons'], [{ ...addon, files: [file], inline: [settings] }])
  })
}
