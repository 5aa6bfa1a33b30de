import { writeFile } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { bare } from '../bare/bare.ts'
import { type Column, renderTable } from '../bench/table.ts'
import { runTrial, type Trial } from '../bench/run-bench.ts'
import { cacheDirectory } from '../cache.ts'
import { versionsFor } from '../cluster/artifacts.ts'
import type { Contender } from '../cluster/contender.ts'
import { parseShape } from '../cluster/shape.ts'
import { type KubernetesVersion, kubernetesVersions, partId, selectParts } from '../components/parts.ts'
import { Lab } from '../hosts/lab.ts'
import { hyperkube } from '../hyperkube/hyperkube.ts'
import { kubeadm } from '../kubeadm/kubeadm.ts'
import { openMirror } from '../mirror/open-mirror.ts'
import { silentReport, terminalReport } from '../report.ts'
import { interrupted } from './interrupt.ts'
import { positiveInteger } from './numbers.ts'

const contenders: readonly Contender[] = [bare, kubeadm, hyperkube]

interface Options {
  readonly shape: readonly string[]
  readonly runs: number
  readonly kubernetes: KubernetesVersion
  readonly addons?: true
  readonly out?: string
}

export function benchCommand(parent: Command): void {
  parent
    .command('bench')
    .description('measure ways of setting up a cluster against each other, in turns, in a lab of their own')
    .argument('[contenders...]', `of ${contenders.map(({ name }) => name).join(', ')}; default: all`)
    .option('--shape <shapes...>', 'control planes + workers', ['1+1', '3+2'])
    .option('--runs <count>', 'how often each', positiveInteger, 3)
    .addOption(
      new Option('--kubernetes <version>', 'which')
        .choices(kubernetesVersions)
        .default(kubernetesVersions[0]),
    )
    .option('--addons', 'with the addons that come with hyperkube; bare has them by kubectl apply')
    .option('--out <file>', 'also write the table, with versions and date')
    .action(async (names: string[], options: Options) => {
      const columns = options.shape.flatMap((text) =>
        choose(names).map((contender) => ({
          contender,
          text,
          shape: parseShape(text),
          trials: [] as Trial[],
        })),
      )
      const signal = interrupted()
      const [cache, report] = [cacheDirectory(), terminalReport()]
      const lab = await Lab.open({ name: 'bench', cache, report: silentReport })
      const mirror = await openMirror(lab, { parts: selectParts(), cache, report, port: 0 })
      const versions = versionsFor(options.kubernetes)
      try {
        for (let run = 1; run <= options.runs; run++) {
          // In turns, so that a noisy minute of the machine hurts all alike.
          for (const { contender, text, shape, trials } of columns) {
            signal.throwIfAborted()
            await lab.clear()
            await report.step(`run ${run}: ${contender.name} ${text}`, async () => {
              const addons = options.addons === true
              const wish = { contender, shape, lab, mirror: mirror.address, versions, addons, signal }
              trials.push(await runTrial(wish))
            })
          }
        }
      } finally {
        await mirror.close()
        await lab.down()
      }
      const table = renderTable(
        columns.map(({ contender, text, trials }): Column => ({
          title: `${contender.name} ${text}`,
          trials,
        })),
      )
      process.stdout.write(`${table}\n`)
      if (options.out !== undefined) await writeFile(options.out, page(table, options))
    })
}

function choose(names: readonly string[]): readonly Contender[] {
  const unknown = names.find((name) => !contenders.some((contender) => contender.name === name))
  if (unknown !== undefined) {
    throw new HyperkubeError('UNKNOWN_CONTENDER', `there is no contender ${unknown}`, {
      hint: `npm run lab -- bench ${contenders.map(({ name }) => name).join(' ')}`,
    })
  }
  return names.length === 0 ? contenders : contenders.filter(({ name }) => names.includes(name))
}

const addonsPage = `
*Addons usable*: CoreDNS, metrics-server, Traefik and local-path are available on as many nodes as they shall be, the API
serves metrics, on every node a pod finds a service by its name and Traefik answers at port 80, and there is a default
StorageClass. hyperkube's \`up\` puts them there by itself. The bare engine gets the very same manifests, as
\`hyperkube addon show\` prints them, by one \`kubectl apply --server-side\` the moment its first API server is ready; its
hosts pull their images from the same mirror when pods ask for them.
`

function page(table: string, options: Options): string {
  const parts = selectParts().map(partId).join(', ')
  const title = options.addons === true ? 'A cluster with addons' : 'Bare engine, kubeadm and hyperkube'
  return `# ${title}

Written by \`npm run lab -- bench\` on ${new Date().toISOString().slice(0, 10)}: Kubernetes ${options.kubernetes},
${options.runs} runs of each, in turns. Median, least and most; the clock starts at hosts with nothing on them and
artifacts come from the lab's mirror. Compare columns with each other, not with other machines.
${options.addons === true ? addonsPage : ''}
${table}

Engine: ${parts}.
`
}
