package main

import _ "contextinfinity/backend/app"
