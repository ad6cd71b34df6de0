//! The application of now, which a reload of the settings replaces.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use axum::Router;

use crate::{App, rest};

/// The application of now. A request is answered to its end by the one that it began with.
pub struct CurrentApp(ArcSwap<RoutedApp>);

/// An application with its routes.
pub(crate) struct RoutedApp {
    pub app: Arc<App>,
    pub routes: Router,
    pub refusals: Router,
}

impl CurrentApp {
    pub fn new(app: Arc<App>) -> Arc<Self> {
        Arc::new(Self(ArcSwap::from_pointee(RoutedApp::new(app))))
    }

    /// The next request is answered by this one. Streams whose token it does not know end.
    pub fn replace(&self, app: Arc<App>) {
        let (tokens, current) = (app.mcp.tokens.clone(), app.settings.tokens.clone());
        self.0.store(Arc::new(RoutedApp::new(app)));
        tokens.send_replace(current);
    }

    pub fn app(&self) -> Arc<App> {
        self.0.load().app.clone()
    }

    pub(crate) fn load(&self) -> Guard<Arc<RoutedApp>> {
        self.0.load()
    }

    pub(crate) fn load_full(&self) -> Arc<RoutedApp> {
        self.0.load_full()
    }
}

impl RoutedApp {
    fn new(app: Arc<App>) -> Self {
        Self { routes: rest::routes(app.clone()), refusals: rest::refusals(), app }
    }
}
