import { buildComponentPlan, type ComponentPlanner } from '../component.ts'
import { isNode, type LinuxPlanContext } from '../context.ts'

/**
 * Plans the pulls of addon images. They come last, because a node can be ready without them. Addons then
 * start without access to a registry.
 */
export const planAddonImages: ComponentPlanner<LinuxPlanContext> = (context) => {
  const uniqueImages = [...new Set(context.images)].toSorted()
  if (!isNode(context) || uniqueImages.length === 0) return undefined
  return buildComponentPlan({ name: 'images', stage: 'network', needs: ['containerd'], images: uniqueImages })
}
