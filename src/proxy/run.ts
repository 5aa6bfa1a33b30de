import { readFile, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ProxyConfiguration,
  proxyConfigurationFormat,
  type ProxyState,
  proxyStateFormat,
} from '../contract/proxy-configuration.ts'
import { readVersioned } from '../contract/versioned.ts'
import { settleAll } from '../kit/concurrency.ts'
import { formatError, hasCode, HyperkubeError } from '../kit/errors.ts'
import { replaceFile } from '../kit/files.ts'
import { sameMembers } from './discover-servers.ts'
import { createHealthServer, listenWithRetry } from './health-server.ts'
import { ApiserverProxy, type ProxyDeps } from './proxy.ts'
import type { ProxyCertificates } from './server-requests.ts'

/** Runs the proxy with a configuration file until the signal is aborted. Reloads the file when it changes. */
export async function runProxy(file: string, deps: ProxyDeps, signal: AbortSignal): Promise<void> {
  const settings = await readProxySettings(file)
  const { listen, health, stateFile } = settings.configuration
  const knownServers = await readKnownServers(stateFile, deps.log)
  const proxy = new ApiserverProxy(settings, knownServers, deps)
  await proxy.start()
  deps.log(`listening at ${listen}`)
  const ended = new AbortController()
  listenWithRetry(
    createHealthServer(() => proxy.status()),
    health,
    deps.log,
    ended.signal,
  )
  try {
    await settleAll([
      watchSettings(file, settings, proxy, deps, signal),
      watchServers(knownServers, stateFile, proxy, deps, signal),
    ])
  } finally {
    deps.log('stopping')
    await proxy.stop()
    ended.abort()
  }
}

/**
 * Polls the configuration file and the certificate files that it names, and applies changes to the proxy.
 * File events are not used, because they can be lost when files are renamed, mounted or copied.
 */
async function watchSettings(
  file: string,
  first: ProxySettings,
  proxy: ApiserverProxy,
  { timing, log }: ProxyDeps,
  signal: AbortSignal,
): Promise<void> {
  const logOnce = createChangeLog(log)
  let settings = first
  let knownStamp: string | undefined
  while (await pause(timing.reloadInterval, signal)) {
    try {
      const stamp = await readStamp([file, ...listFiles(settings.configuration)], timing.reloadInterval)
      if (stamp !== undefined && stamp === knownStamp) continue
      const read = await readProxySettings(file)
      if (!isSameSettings(settings, read)) {
        proxy.applySpec(read)
        log(`applied the changed ${file} or a file that it names`)
        if (read.configuration.listen !== first.configuration.listen)
          log('a new listen address needs a restart')
      }
      settings = read
      knownStamp = stamp
      logOnce('')
    } catch (error) {
      // The previous settings stay in use: outdated servers are better than no servers.
      logOnce(`the previous configuration stays in use: ${formatError(error)}`)
    }
  }
}

/**
 * Describes the versions of files without reading them. Returns undefined if a file has changed so recently
 * that a further change could have the same timestamp.
 */
async function readStamp(paths: readonly string[], settleMs: number): Promise<string | undefined> {
  const files = await Promise.all(
    paths.map(async (path) => stat(path, { bigint: true }).catch(() => undefined)),
  )
  if (files.some((one) => one !== undefined && Date.now() - Number(one.ctimeMs) < settleMs)) return undefined
  return files
    .map((one) => (one === undefined ? '' : [one.ino, one.size, one.mtimeNs, one.ctimeNs].join(' ')))
    .join('\n')
}

async function watchServers(
  knownServers: readonly string[],
  memory: string,
  proxy: ApiserverProxy,
  { timing, random, log }: ProxyDeps,
  signal: AbortSignal,
): Promise<void> {
  const logOnce = createChangeLog(log)
  let known = knownServers
  // The first discovery starts soon. Later discoveries are periodic, with jitter so that nodes do not
  // discover at the same time.
  let wait = timing.probeInterval
  while (await pause(wait, signal)) {
    try {
      const discovered = await proxy.discover()
      if (discovered === undefined) continue
      wait = timing.discoveryInterval * (0.5 + random())
      logOnce('')
      if (sameMembers(known, discovered)) continue
      log(`API servers of the cluster: ${discovered.join(', ')}`)
      known = discovered
      await writeKnownServers(memory, discovered, log)
    } catch (error) {
      wait = timing.discoveryInterval * (0.5 + random())
      logOnce(`cannot discover the API servers: ${formatError(error)}`)
    }
  }
}

/** Waits. Returns false if the signal was aborted. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined)
  return !signal.aborted
}

/** Creates a log function that skips a line that is equal to the previous one. */
function createChangeLog(log: (line: string) => void): (line: string) => void {
  let last = ''
  return (line) => {
    if (line !== last && line !== '') log(line)
    last = line
  }
}

/**
 * Reads the servers that were known in the last run. A damaged file is logged, and the result is then empty.
 */
async function readKnownServers(file: string, log: (line: string) => void): Promise<readonly string[]> {
  try {
    return readVersioned(proxyStateFormat, JSON.parse(await readFile(file, 'utf8'))).servers
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) log(`cannot read ${file}: ${formatError(error)}`)
    return []
  }
}

async function writeKnownServers(
  file: string,
  servers: readonly string[],
  log: (line: string) => void,
): Promise<void> {
  const state: ProxyState = { apiVersion: 'hyperkube.dev/v1', kind: 'ApiserverProxyState', servers }
  await replaceFile(file, `${JSON.stringify(state, undefined, 2)}\n`, 0o600).catch((error: unknown) =>
    log(`cannot write ${file}: ${formatError(error)}`),
  )
}

/** Contents of the configuration file and of the certificate files. */
export interface ProxySettings extends ProxyCertificates {
  readonly configuration: ProxyConfiguration
}

async function readProxySettings(file: string): Promise<ProxySettings> {
  const configuration = await readConfiguration(file)
  const [caCertificate, certificate, privateKey] = await Promise.all(
    listFiles(configuration).map(async (path) => readFile(path, 'utf8').catch(() => undefined)),
  )
  const whole = certificate !== undefined && privateKey !== undefined
  return { configuration, caCertificate, credentials: whole ? { certificate, privateKey } : undefined }
}

/** Lists the files that the configuration names: CA, certificate and private key. */
function listFiles({ caFile, credentials }: ProxyConfiguration): readonly string[] {
  return [caFile, credentials.certificate, credentials.privateKey]
}

async function readConfiguration(file: string): Promise<ProxyConfiguration> {
  try {
    return readVersioned(proxyConfigurationFormat, JSON.parse(await readFile(file, 'utf8')))
  } catch (cause) {
    throw new HyperkubeError('PROXY_CONFIGURATION', `cannot read ${file}`, {
      hint: 'the agent writes this file; on the host: journalctl -u hyperkube-agent',
      cause,
    })
  }
}

function isSameSettings(some: ProxySettings, others: ProxySettings): boolean {
  return JSON.stringify(some) === JSON.stringify(others)
}
