import { isDeepStrictEqual } from 'node:util'
import type { Finding } from '../../contract/finding.ts'
import { truncateList } from '../../kit/text.ts'
import type { Manifest } from '../../kube/object.ts'
import type { ChartSettings } from '../../spec/chart.ts'
import { describeReference, formatReferenceKey, toReference } from '../reference.ts'
import { dropUselessNamespaces } from '../user/default-namespace.ts'
import { type ManifestsResult, parseManifests } from '../user/parse-manifests.ts'

/** Output of two renderings of the same chart with the same values. */
export interface RenderedChart {
  readonly text: string
  readonly repeatedText: string
}

/** The addon of a chart. `path` is the position of the chart in cluster.yml. */
export interface ChartOrigin {
  readonly addon: string
  readonly chart: ChartSettings
  readonly path: string
}

const maxNamed = 10

/** Reads the manifests of a rendered chart without its hooks, and reports what hyperkube cannot manage. */
export function readChart({ text, repeatedText }: RenderedChart, origin: ChartOrigin): ManifestsResult {
  const source = { name: `chart of addon ${origin.addon}`, path: origin.path, inline: false }
  const { manifests, findings } = parseManifests({ ...source, text })
  const repeated = parseManifests({ ...source, text: repeatedText })
  const hooks = manifests.filter((manifest) => readHooks(manifest) !== undefined)
  return {
    manifests: dropUselessNamespaces(manifests.filter((manifest) => !hooks.includes(manifest))),
    findings: [
      ...findings,
      ...(origin.chart.hooks === 'ignore' ? [] : reportHooks(hooks, origin)),
      ...(hooks.length > 0 && hooks.length === manifests.length ? [buildOnlyHooksFinding(origin)] : []),
      ...reportDifferences(findDifferences(manifests, repeated.manifests), origin),
    ],
  }
}

/** Returns the hooks of Helm for which an object is created, as in its annotation. */
function readHooks({ metadata }: Manifest): string | undefined {
  const hooks: unknown = Object(metadata['annotations'])['helm.sh/hook']
  return typeof hooks === 'string' ? hooks : undefined
}

function reportHooks(hooks: readonly Manifest[], { addon, path }: ChartOrigin): Finding[] {
  if (hooks.length === 0) return []
  const names = hooks.map((hook) => `${describeReference(toReference(hook))} (${readHooks(hook) ?? ''})`)
  return [
    {
      code: 'CHART_HOOKS',
      severity: 'error',
      message: `addon ${addon}: the chart has hooks, which hyperkube does not run: ${truncateList(names, maxNamed)}`,
      hint: 'disable them with values of the chart; if the chart works without them, set hooks: ignore',
      path: `${path}.hooks`,
    },
  ]
}

/** Refuses a chart without objects. Otherwise all objects that it had before would be removed. */
function buildOnlyHooksFinding({ addon, path }: ChartOrigin): Finding {
  return {
    code: 'ADDON_SOURCE_EMPTY',
    severity: 'error',
    message: `addon ${addon}: the chart contains only hooks`,
    hint: 'check the values of the chart; to remove the addon: enabled: false',
    path,
  }
}

/**
 * Reports objects that are different in each rendering. The addon would change with every command, and
 * applying it would replace random passwords and keys.
 */
function reportDifferences(names: readonly string[], { addon, path }: ChartOrigin): Finding[] {
  if (names.length === 0) return []
  return [
    {
      code: 'CHART_NOT_REPRODUCIBLE',
      severity: 'error',
      message: `addon ${addon}: each rendering of the chart gives other content for ${truncateList(names, maxNamed)}`,
      hint: 'set the random or time-dependent values of the chart, passwords and keys by secretValues',
      path,
    },
  ]
}

function findDifferences(one: readonly Manifest[], other: readonly Manifest[]): string[] {
  const index = (manifests: readonly Manifest[]): Map<string, Manifest> =>
    new Map(manifests.map((manifest) => [formatReferenceKey(toReference(manifest)), manifest]))
  const [left, right] = [index(one), index(other)]
  return [...new Map([...left, ...right])]
    .filter(([key]) => !isDeepStrictEqual(left.get(key), right.get(key)))
    .map(([, manifest]) => describeReference(toReference(manifest)))
}
