import { parse } from 'yaml'
import { z } from 'zod'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Args } from '../../plan/args.ts'
import { manifestDirectory, pkiDirectory } from './layout.ts'
import { findPlannedComponent, readServiceArgs } from './service-args.ts'

const settings = z.record(z.string(), z.unknown())

/** Reads a configuration file of a component from its plan. */
export function readPlannedConfig(plan: NodePlan, component: string): Record<string, unknown> {
  const file = findPlannedComponent(plan, component)?.files.find(({ path }) => path.endsWith('/config.yaml'))
  return file?.content.kind === 'text' ? settings.parse(parse(file.content.text)) : {}
}

/**
 * Builds the kubelet configuration of kubeadm from that of hyperkube. The kubelet renews its client certificate
 * itself from now on, and creates its serving certificate.
 */
export function buildKubeletConfig(plan: NodePlan): Record<string, unknown> {
  const { tlsCertFile: _, tlsPrivateKeyFile: __, ...kept } = readPlannedConfig(plan, 'kubelet')
  const authentication = settings.parse(kept['authentication'] ?? {})
  return {
    ...kept,
    authentication: { ...authentication, x509: { clientCAFile: `${pkiDirectory}/ca.crt` } },
    rotateCertificates: true,
    staticPodPath: manifestDirectory,
  }
}

/** Returns the kubelet flags that are not in a file of kubeadm. */
export function readKubeletFlags(plan: NodePlan): Args {
  const { config: _, kubeconfig: __, ...flags } = readServiceArgs(plan, 'kubelet')
  return flags
}
