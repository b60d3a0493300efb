import * as fs from 'node:fs'
import { register } from 'node:module'

/**
 * Lets the suite start on Node 20, whose `fs` has no `globSync`: one of its commands, which is not run here,
 * imports it.
 *
 * Loaded into the suite with `--import`.
 *
 * @module
 */
if (!('globSync' in fs)) register('./glob-hook.js', import.meta.url)
