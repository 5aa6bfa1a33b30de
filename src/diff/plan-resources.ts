import type {
  ComponentPlan,
  PlannedArtifact,
  PlannedCertificate,
  PlannedFile,
} from '../contract/component-plan.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import { namePredecessor } from '../contract/predecessor.ts'
import {
  compareTargets,
  computeDigest,
  type PlanResource,
  type PresentResource,
  resourceKey,
} from './resource.ts'

/**
 * Lists all resources of a plan: components in plan order, and the resources of a component in creation
 * order.
 */
export function listResources(plan: NodePlan): PlanResource[] {
  return plan.components.flatMap(listComponentResources)
}

/** Lists the resources that a host has after the plan was applied. */
export function resourcesAfterApply(plan: NodePlan): PresentResource[] {
  const all = listResources(plan)
  // The first component that has a shared resource determines its content.
  const digests = new Map(all.toReversed().map((item) => [resourceKey(item), item.digest]))
  return all.map((item) => ({ ...item, digest: digests.get(resourceKey(item)) ?? item.digest }))
}

type ResourceContent = Pick<PlanResource, 'target' | 'name'> & {
  readonly content: unknown
  readonly restart?: boolean
}

function listComponentResources(component: ComponentPlan): PlanResource[] {
  return listContents(component)
    .toSorted((a, b) => compareTargets(a.target, b.target))
    .map(({ target, name, content, restart = false }) => ({
      component: component.name,
      stage: component.stage,
      target,
      name,
      digest: computeDigest(content),
      restart,
    }))
}

/**
 * Lists the resources of a component with the content that determines their digest. `restart` is not part of
 * the content, because it changes nothing on the host.
 */
function listContents(component: ComponentPlan): ResourceContent[] {
  const { users, modules, sysctls, firewall, directories, artifacts, images } = component
  const { files, certificates, derivedFiles, replaces, service } = component
  return [
    ...users.map((name): ResourceContent => ({ target: 'user', name, content: {} })),
    ...modules.map((name): ResourceContent => ({ target: 'module', name, content: {} })),
    ...Object.entries(sysctls).map(([name, value]): ResourceContent => ({
      target: 'sysctl',
      name,
      content: { value },
    })),
    ...firewall.map(({ name, ...content }): ResourceContent => ({ target: 'firewall-rule', name, content })),
    ...directories.map(({ path, ...content }): ResourceContent => ({
      target: 'directory',
      name: path,
      content,
    })),
    ...artifacts.map(artifactContent),
    ...images.map((name): ResourceContent => ({ target: 'image', name, content: {} })),
    ...files.map(fileContent),
    ...certificates.map(({ certificateFile, ...content }): ResourceContent => ({
      target: 'certificate',
      name: certificateFile,
      content,
    })),
    ...derivedFiles.map(({ path, ...content }): ResourceContent => ({
      target: 'derived-file',
      name: path,
      content,
    })),
    ...(replaces === undefined
      ? []
      : [{ target: 'predecessor', name: namePredecessor(replaces), content: replaces } as const]),
    ...(service === undefined
      ? []
      : [{ target: 'service', name: service.name, content: service, restart: true } as const]),
  ]
}

/**
 * Returns the content of an artifact without its URL, because the same bytes from another mirror are the same
 * artifact.
 */
function artifactContent(artifact: PlannedArtifact): ResourceContent {
  const { name, version, directory } = artifact
  const content =
    artifact.from === 'url'
      ? { directory, sha256: artifact.sha256, unpack: artifact.unpack }
      : { directory, from: artifact.from }
  return { target: 'artifact', name: `${name}-${version}`, content, restart: true }
}

function fileContent({ path, owner, mode, content, restart, once }: PlannedFile): ResourceContent {
  if (once) return { target: 'file', name: path, content: { owner, mode, once }, restart }
  const bytes = content.kind === 'text' ? { text: content.text } : { tag: content.tag }
  return { target: 'file', name: path, content: { owner, mode, ...bytes }, restart }
}

/** Builds a plan without components. Applying it removes all resources from a host in a safe order. */
export function buildEmptyPlan(cluster: NodePlan['cluster'], host: string): NodePlan {
  const head = { apiVersion: 'hyperkube.dev/v1', kind: 'NodePlan', os: 'linux', arch: 'amd64' } as const
  return { ...head, cluster, host, address: '', roles: [], components: [] }
}

/**
 * Replaces the certificate specs of a plan by those of the existing certificates, so that a rollback issues
 * no certificates. Certificates that do not exist yet keep the plan's spec.
 */
export function keepCertificates(plan: NodePlan, existing: readonly PlannedCertificate[]): NodePlan {
  const known = new Map(existing.map((certificate) => [certificate.certificateFile, certificate]))
  return {
    ...plan,
    components: plan.components.map((component) => ({
      ...component,
      certificates: component.certificates.map(
        (certificate) => known.get(certificate.certificateFile) ?? certificate,
      ),
    })),
  }
}
