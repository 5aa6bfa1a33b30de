import { readFile } from 'node:fs/promises'
import { type ProxyConfiguration, proxyConfigurationFormat } from '../contract/proxy-configuration.ts'
import { readVersioned } from '../contract/versioned.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Pems } from './server-agents.ts'

/** All that comes from files, as they are now. */
export interface Settings extends Pems {
  readonly configuration: ProxyConfiguration
}

export async function readSettings(file: string): Promise<Settings> {
  const configuration = await readConfiguration(file)
  const paths = [
    configuration.authority,
    configuration.credentials.certificate,
    configuration.credentials.privateKey,
  ]
  const [authority, certificate, privateKey] = await Promise.all(
    paths.map(async (path) => readFile(path, 'utf8').catch(() => undefined)),
  )
  const whole = certificate !== undefined && privateKey !== undefined
  return { configuration, authority, credentials: whole ? { certificate, privateKey } : undefined }
}

async function readConfiguration(file: string): Promise<ProxyConfiguration> {
  try {
    return readVersioned(proxyConfigurationFormat, JSON.parse(await readFile(file, 'utf8')))
  } catch (cause) {
    throw new HyperkubeError('PROXY_CONFIGURATION', `${file} could not be read`, {
      hint: 'hyperkube’s agent on this host writes it; it says why it has not',
      cause,
    })
  }
}

export function sameSettings(some: Settings, others: Settings): boolean {
  return JSON.stringify(some) === JSON.stringify(others)
}
