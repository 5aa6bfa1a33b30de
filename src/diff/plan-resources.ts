import type { ComponentPlan, PlannedArtifact, PlannedFile } from '../contract/component-plan.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import { digestOf } from './digest.ts'
import { compareTargets, type Item, type PresentItem, thingOf } from './resource.ts'

/** Everything of a plan: by component in its order, within one in the order in which things come into being. */
export function items(plan: NodePlan): Item[] {
  return plan.components.flatMap(itemsOf)
}

/** What is there once a plan was applied. */
export function presentAfter(plan: NodePlan): PresentItem[] {
  const all = items(plan)
  // Of what several have, the first one decides.
  const digests = new Map(all.toReversed().map((item) => [thingOf(item), item.digest]))
  return all.map((item) => ({ ...item, digest: digests.get(thingOf(item)) ?? item.digest }))
}

type Thing = Pick<Item, 'target' | 'name'> & { readonly content: unknown; readonly restart?: boolean }

function itemsOf(component: ComponentPlan): Item[] {
  return thingsOf(component)
    .toSorted((a, b) => compareTargets(a.target, b.target))
    .map(({ target, name, content, restart = false }) => ({
      component: component.name,
      stage: component.stage,
      target,
      name,
      digest: digestOf(content),
      restart,
    }))
}

/** Whether a program sees a change by itself is no part of a file's content: nothing on the host would change. */
function thingsOf(component: ComponentPlan): Thing[] {
  const { users, modules, sysctls, firewall, directories, artifacts, images } = component
  const { files, certificates, derivedFiles, service } = component
  return [
    ...users.map((name): Thing => ({ target: 'user', name, content: {} })),
    ...modules.map((name): Thing => ({ target: 'module', name, content: {} })),
    ...Object.entries(sysctls).map(([name, value]): Thing => ({
      target: 'sysctl',
      name,
      content: { value },
    })),
    ...firewall.map(({ name, ...content }): Thing => ({ target: 'firewall-rule', name, content })),
    ...directories.map(({ path, ...content }): Thing => ({ target: 'directory', name: path, content })),
    ...artifacts.map(artifactThing),
    ...images.map((name): Thing => ({ target: 'image', name, content: {} })),
    ...files.map(fileThing),
    ...certificates.map(({ certificateFile, ...content }): Thing => ({
      target: 'certificate',
      name: certificateFile,
      content,
    })),
    ...derivedFiles.map(({ path, ...content }): Thing => ({ target: 'derived-file', name: path, content })),
    ...(service === undefined
      ? []
      : [{ target: 'service', name: service.name, content: service, restart: true } as const]),
  ]
}

/** The same bytes from another mirror are the same artifact. */
function artifactThing(artifact: PlannedArtifact): Thing {
  const { name, version, directory } = artifact
  const content =
    artifact.from === 'url'
      ? { directory, sha256: artifact.sha256, unpack: artifact.unpack }
      : { directory, from: artifact.from }
  return { target: 'artifact', name: `${name}-${version}`, content, restart: true }
}

function fileThing({ path, owner, mode, content, restart, once }: PlannedFile): Thing {
  if (once) return { target: 'file', name: path, content: { owner, mode, once }, restart }
  const bytes = content.kind === 'text' ? { text: content.text } : { tag: content.tag }
  return { target: 'file', name: path, content: { owner, mode, ...bytes }, restart }
}
