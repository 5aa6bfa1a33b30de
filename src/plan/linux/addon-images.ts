import { component, type Planner } from '../component.ts'
import { isNode, type LinuxScene } from '../context.ts'

/**
 * Images of what will run in the cluster. They come last: nobody waits for them before the node itself is ready, and
 * whoever does then has them at once, also without a way out.
 */
export const images: Planner<LinuxScene> = (scene) => {
  const wanted = [...new Set(scene.images)].toSorted()
  if (!isNode(scene) || wanted.length === 0) return undefined
  return component({ name: 'images', stage: 'network', needs: ['containerd'], images: wanted })
}
