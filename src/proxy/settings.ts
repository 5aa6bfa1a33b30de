import { readFile } from 'node:fs/promises'
import { type ProxyConfiguration, proxyConfigurationFormat } from '../contract/proxy-configuration.ts'
import { readVersioned } from '../contract/versioned.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { ProxyCertificates } from './server-agents.ts'

/** The configuration file and the contents of the certificate files. */
export interface ProxySettings extends ProxyCertificates {
  readonly configuration: ProxyConfiguration
}

export async function readProxySettings(file: string): Promise<ProxySettings> {
  const configuration = await readConfiguration(file)
  const paths = [
    configuration.caFile,
    configuration.credentials.certificate,
    configuration.credentials.privateKey,
  ]
  const [caCertificate, certificate, privateKey] = await Promise.all(
    paths.map(async (path) => readFile(path, 'utf8').catch(() => undefined)),
  )
  const whole = certificate !== undefined && privateKey !== undefined
  return { configuration, caCertificate, credentials: whole ? { certificate, privateKey } : undefined }
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

export function isSameSettings(some: ProxySettings, others: ProxySettings): boolean {
  return JSON.stringify(some) === JSON.stringify(others)
}
