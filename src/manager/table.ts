import type { ControllerRow } from './controller.ts'
import { versionSkew } from './controllers/version-skew/version-skew.ts'

/** Every controller there is. A new one is a folder beside the others, and a row here. */
export const controllers: readonly ControllerRow[] = [versionSkew]
