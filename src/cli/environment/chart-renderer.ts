import { chmod, readFile, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { parse } from 'yaml'
import { z } from 'zod'
import { systemClock } from '../../agent/host/clock.ts'
import { createHttpDownloader } from '../../agent/host/downloader.ts'
import { chartPath } from '../../bundle/manifest.ts'
import { runProgram } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { ChartRenderer, ChartRequest } from '../../workspace/chart-renderer.ts'
import { openClusterBundle } from '../../workspace/open-cluster-bundle.ts'
import type { CommandContext } from '../command/command.ts'
import {
  type ChartFiles,
  computeChartDigest,
  maxChartBytes,
  readChartFiles,
  writeChartFiles,
} from './chart-files.ts'
import {
  buildCacheName,
  fetchPinnedArtifact,
  findLocalArtifact,
  type PinnedArtifactDeps,
} from './locked-program.ts'
import { cacheProgram } from './program-cache.ts'
import { createTemporaryDirectory, type WorkDirectory } from './temporary-directory.ts'

export type ChartRendererDeps = Pick<CommandContext, 'bundles' | 'cacheDirectory'> & {
  readonly writeLine: (line: string) => void
}

/** Creates the access to charts of this machine. Helm is fetched and verified when the first chart needs it. */
export function createChartRenderer(deps: ChartRendererDeps): ChartRenderer {
  return {
    computeDigest: async (path, signal) => computeChartDigest(await readChartFiles(path, signal)),
    async render(request, signal) {
      const chart = await takeChart(request, deps, signal)
      const helm = await prepareHelm(request, toProgramDeps(deps, signal))
      await using work = await createTemporaryDirectory()
      const path = await writeChartFiles(chart, work.path)
      await checkVersion({ helm, work, path, request, signal })
      const render = async (): Promise<string> => runTemplate({ helm, work, path, request, signal })
      return { text: await render(), repeatedText: await render() }
    },
  }
}

function toProgramDeps({ writeLine, ...deps }: ChartRendererDeps, signal: AbortSignal): PinnedArtifactDeps {
  const track = (title: string) => {
    writeLine(title)
    return () => undefined
  }
  return { ...deps, signal, progress: { track } }
}

/** Reads the chart from its directory, the bundle or its URL. Throws if it is not the pinned chart. */
async function takeChart(
  request: ChartRequest,
  deps: ChartRendererDeps,
  signal: AbortSignal,
): Promise<ChartFiles> {
  const { clusterFile, addon, chart, pin } = request
  const { path } = chart
  const files =
    path === undefined
      ? await takeArchive(request, deps, signal)
      : await readChartFiles(join(dirname(clusterFile), path), signal)
  if (computeChartDigest(files) === pin.sha256) return files
  throw new HyperkubeError(
    'CHART_CHANGED',
    `addon ${addon}: ${path ?? pin.url ?? 'the chart'} does not match its digest in cluster.lock`,
    { hint: 'review the chart; to accept it: hyperkube lock' },
  )
}

async function takeArchive(
  request: ChartRequest,
  deps: ChartRendererDeps,
  signal: AbortSignal,
): Promise<ChartFiles> {
  const { clusterFile, cluster, pin } = request
  await using bundle = await openClusterBundle(deps, clusterFile, cluster)
  const member = bundle?.manifest.members.find(({ path }) => path === chartPath(pin))
  if (bundle !== undefined && member !== undefined)
    return { kind: 'archive', bytes: await buffer(bundle.content(member)) }
  const cached = await cacheArchive(request, deps, signal)
  const archive: ChartFiles = { kind: 'archive', bytes: await readFile(cached, { signal }) }
  if (computeChartDigest(archive) === pin.sha256) return archive
  // The digest was correct when the file was stored, so it was changed since then.
  await rm(cached, { force: true })
  return { kind: 'archive', bytes: await readFile(await cacheArchive(request, deps, signal), { signal }) }
}

/** Returns the path of a chart in the cache. It is downloaded first if the cache lacks it. */
async function cacheArchive(
  { openRoute, pin }: ChartRequest,
  deps: ChartRendererDeps,
  signal: AbortSignal,
): Promise<string> {
  const { url = '', sha256 } = pin
  return cacheProgram(deps, `chart-${sha256}.tgz`, async (directory) => {
    const into = join(directory, 'chart.tgz')
    deps.writeLine(`downloading ${url}`)
    const downloader = createHttpDownloader((path) => path, systemClock)
    const actual = await downloader.download({
      url,
      into,
      maxBytes: maxChartBytes,
      route: await openRoute(),
      progress: () => undefined,
      signal,
    })
    if (actual === sha256) return into
    throw new HyperkubeError(
      'ADDON_SOURCE_CHANGED',
      `the SHA-256 of ${url} is ${actual}, but cluster.yml has ${sha256}`,
      { hint: `review the chart; to accept it, set its sha256 in cluster.yml to ${actual}` },
    )
  })
}

/** Returns the path of Helm for this machine, in the version that the lock pins. */
async function prepareHelm(options: ChartRequest, deps: PinnedArtifactDeps): Promise<string> {
  const artifact = findLocalArtifact(options.lock, 'helm')
  return cacheProgram(deps, buildCacheName(artifact), async (work) => {
    const archive = await fetchPinnedArtifact(artifact, work, options, deps)
    const member = `${artifact.os}-${artifact.arch}/helm`
    await runProgram(['tar', '-xzf', archive, '-C', work, member], { signal: deps.signal })
    await chmod(join(work, member), 0o755)
    return join(work, member)
  })
}

interface HelmRun {
  readonly helm: string
  readonly work: WorkDirectory
  /** Path of the verified copy of the chart. */
  readonly path: string
  readonly request: ChartRequest
  readonly signal: AbortSignal
}

const chartFile = z.looseObject({ version: z.string() })

async function checkVersion(run: HelmRun): Promise<void> {
  const { addon, chart } = run.request
  const { version } = chartFile.parse(parse(await runHelm(run, ['show', 'chart', run.path], '')))
  if (version === chart.version) return
  throw new HyperkubeError(
    'CHART_VERSION',
    `addon ${addon}: the chart has the version ${version}, but cluster.yml has ${chart.version}`,
    { hint: `set version to ${version} in cluster.yml, or use the other chart; then: hyperkube lock` },
  )
}

/** Renders the chart. Values come through stdin, because they may contain secrets. */
async function runTemplate(run: HelmRun): Promise<string> {
  const { clusterFile, cluster, addon, chart, values } = run.request
  const valuesFiles = chart.valuesFiles.map((file) => resolve(dirname(clusterFile), file))
  const args = [
    'template',
    chart.release ?? addon,
    run.path,
    '--namespace',
    chart.namespace,
    '--include-crds',
    '--skip-tests',
    '--kube-version',
    cluster.spec.kubernetes,
    ...[...valuesFiles, '-'].flatMap((file) => ['--values', file]),
  ]
  return runHelm(run, args, values)
}

async function runHelm(
  { helm, work, request, signal }: HelmRun,
  args: readonly string[],
  input: string,
): Promise<string> {
  const env = buildEnvironment(work.path)
  const result = await runProgram([helm, ...args], { env, input, cwd: work.path, signal, allowFailure: true })
  if (result.code === 0) return result.stdout
  const lines = request.redact(result.stderr).trim().split('\n').slice(-20)
  throw new HyperkubeError(
    'CHART_NOT_RENDERED',
    `addon ${request.addon}: helm ${args[0] ?? ''} ended with ${result.code}: ${lines.join('\n  ')}`,
    { hint: 'check the chart and its values in cluster.yml' },
  )
}

/**
 * Environment of Helm: without plugins, settings and repositories of the operator, and without a cluster. The
 * proxy address accepts no connections, so Helm can download nothing.
 */
function buildEnvironment(directory: string): Record<string, string> {
  const closed = 'http://127.0.0.1:1'
  return {
    HOME: directory,
    TMPDIR: directory,
    HELM_CACHE_HOME: join(directory, 'cache'),
    HELM_CONFIG_HOME: join(directory, 'config'),
    HELM_DATA_HOME: join(directory, 'data'),
    HELM_PLUGINS: join(directory, 'plugins'),
    HELM_NO_PLUGINS: '1',
    KUBECONFIG: join(directory, 'kubeconfig'),
    HTTP_PROXY: closed,
    HTTPS_PROXY: closed,
  }
}
