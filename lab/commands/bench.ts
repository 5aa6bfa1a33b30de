import { writeFile } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { bare } from '../bare/bare.ts'
import { type Column, renderRatios, renderTable } from '../bench/table.ts'
import { runBench, type BenchResult } from '../bench/run-bench.ts'
import { cacheDirectory } from '../cache.ts'
import { selectVersions } from '../cluster/artifacts.ts'
import type { Contender } from '../cluster/contender.ts'
import { parseShape } from '../cluster/shape.ts'
import { type KubernetesVersion, kubernetesVersions, formatPartId, selectParts } from '../components/parts.ts'
import { Lab } from '../hosts/lab.ts'
import { hyperkube } from '../hyperkube/hyperkube.ts'
import { kubeadm } from '../kubeadm/kubeadm.ts'
import { openMirror } from '../mirror/open-mirror.ts'
import { silentReport, terminalReport } from '../report.ts'
import { abortOnInterrupt } from './interrupt.ts'
import { parsePositiveInteger } from './numbers.ts'

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
    .description('compare contenders that set up a cluster, alternating, in a separate lab')
    .argument('[contenders...]', `any of ${contenders.map(({ name }) => name).join(', ')}; default: all`)
    .option('--shape <shapes...>', 'control planes + workers', ['1+1', '3+2'])
    .option('--runs <count>', 'runs per contender', parsePositiveInteger, 5)
    .addOption(
      new Option('--kubernetes <version>', 'Kubernetes version')
        .choices(kubernetesVersions)
        .default(kubernetesVersions[0]),
    )
    .option('--addons', 'also install the addons of hyperkube; bare uses kubectl apply')
    .option('--out <file>', 'also write the table, with versions and date')
    .action(async (names: string[], options: Options) => {
      const columns = options.shape.flatMap((text) =>
        selectContenders(names).map((contender) => ({
          contender,
          text,
          shape: parseShape(text),
          results: [] as BenchResult[],
        })),
      )
      const render = (): Tables => {
        const results = columns.map((column): Column => ({
          ...column,
          ...{ contender: column.contender.name, shape: column.text },
        }))
        return { table: renderTable(results), ratios: renderRatios(results) }
      }
      const signal = abortOnInterrupt()
      const [cache, report] = [cacheDirectory(), terminalReport()]
      const lab = await Lab.open({ name: 'bench', cache, report: silentReport })
      const mirror = await openMirror(lab, { parts: selectParts(), cache, report, port: 0 })
      const versions = selectVersions(options.kubernetes)
      try {
        for (let run = 1; run <= options.runs; run++) {
          // Every run measures all contenders in turn, so temporary load on the machine affects all of them.
          // Each run begins with another contender, so no contender always follows the same one.
          for (const { contender, text, shape, results } of rotate(columns, run - 1)) {
            signal.throwIfAborted()
            await lab.clear()
            await report.step(`run ${run}: ${contender.name} ${text}`, async () => {
              const addons = options.addons === true
              const benchOptions = { contender, shape, lab, mirror: mirror.address, versions, addons, signal }
              results.push(await runBench(benchOptions))
            })
          }
          // The page is written after every run, so that an interrupted benchmark keeps its results.
          if (options.out !== undefined) await writeFile(options.out, renderPage(render(), run, options))
        }
      } finally {
        await mirror.close()
        await lab.down()
      }
      const { table, ratios } = render()
      process.stdout.write(`${table}\n\n${ratios}\n`)
    })
}

interface Tables {
  readonly table: string
  /** Table of the ratios between contenders; empty if there is only one contender. */
  readonly ratios: string
}

function rotate<T>(items: readonly T[], by: number): readonly T[] {
  const start = by % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}

function selectContenders(names: readonly string[]): readonly Contender[] {
  const unknown = names.find((name) => !contenders.some((contender) => contender.name === name))
  if (unknown !== undefined) {
    throw new HyperkubeError('UNKNOWN_CONTENDER', `there is no contender ${unknown}`, {
      hint: `npm run lab -- bench ${contenders.map(({ name }) => name).join(' ')}`,
    })
  }
  return names.length === 0 ? contenders : contenders.filter(({ name }) => names.includes(name))
}

function ratioSection(ratios: string): string {
  return `
## Ratios

Each ratio divides two results of the same run; median, minimum and maximum of all runs. *CPU of all hosts* is
the ratio per processor second.

${ratios}
`
}

const addonsSection = `
*Addons usable*: CoreDNS, metrics-server, Traefik and local-path have all their replicas available, the API
serves metrics, on every node a pod resolves a service by its name and Traefik responds at port 80, and there is a default
StorageClass. hyperkube installs them during \`up\`. The bare cluster gets the same manifests, printed by
\`hyperkube addon show\`, with one \`kubectl apply --server-side\` as soon as its first API server is ready; its
hosts pull the images from the same mirror when pods need them.
`

function renderPage({ table, ratios }: Tables, runs: number, options: Options): string {
  const parts = selectParts().map(formatPartId).join(', ')
  const title = options.addons === true ? 'A cluster with addons' : 'Bare components, kubeadm and hyperkube'
  return `# ${title}

Written by \`npm run lab -- bench\` on ${new Date().toISOString().slice(0, 10)}: Kubernetes ${options.kubernetes},
${runs} alternating runs of each. Median, minimum and maximum; the clock starts with empty hosts and
artifacts come from the lab's mirror. Compare columns with each other, not with other machines.
${options.addons === true ? addonsSection : ''}
${table}
${ratios === '' ? '' : ratioSection(ratios)}
Components: ${parts}.
`
}
